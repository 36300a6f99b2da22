package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/cmd/targetctl/migrate"
	"target-ownership-controller/controller/kind"
)

// moving is the command line of migrate.
type moving struct {
	change
	options    migrate.Options
	kind       string
	kubeconfig string
	context    string
	back       bool
}

const movesSafely = "No target that is wanted leaves its group meanwhile, however the pods roll. It asks\nfirst, and a run that was interrupted is run again.\n\n" +
	"docs/lbc.md says what happens in which order, and why."

func (a *app) migrate() *cobra.Command {
	c := &cobra.Command{
		Use: "migrate", Short: "Move bindings between the AWS Load Balancer Controller and this one",
		Args: subcommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		a.move("lbc", "to", false, "Move bindings from the AWS Load Balancer Controller to this one",
			"Move the bindings of a cluster from the AWS Load Balancer Controller (LBC) to this\ncontroller.\n\n"+
				"To SharedTargetGroupBinding, LBC goes on with what it made for Ingresses and\nServices. To TargetGroupBinding, it is replaced: the command says when to stop it.\n\n"),
		a.move("back-to-lbc", "from", true, "Move bindings from this controller back to the AWS Load Balancer Controller",
			"Move the bindings of a cluster back to the AWS Load Balancer Controller (LBC).\n\n"+
				"From SharedTargetGroupBinding, both run. From TargetGroupBinding, the command says\nwhen to start LBC.\n\n"),
	)
	return c
}

func (a *app) move(use, direction string, back bool, short, long string) *cobra.Command {
	m := moving{back: back, options: migrate.DefaultOptions()}
	c := &cobra.Command{
		Use: use, Short: short, Long: long + movesSafely,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			k, err := kind.Parse(m.kind)
			if err != nil {
				return usageError{fmt.Errorf("--%s: %w", direction, err)}
			}
			m.options.Kind = k
			return a.migration(c.Context(), m)
		},
	}
	f := c.Flags()
	if back {
		m.bind(f, "")
	} else {
		m.bind(f, "take out what LBC left also where it is healthy")
	}
	f.StringVar(&m.kind, direction, kind.SharedTargetGroupBinding.Name, "the kind of bindings on this controller's side: SharedTargetGroupBinding or TargetGroupBinding")
	f.StringVarP(&m.options.Namespace, "namespace", "n", "", "one namespace; default: all")
	f.StringVar(&m.kubeconfig, "kubeconfig", "", "the kubeconfig; default: that of kubectl")
	_ = c.RegisterFlagCompletionFunc("kubeconfig", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)) // files
	f.StringVar(&m.context, "context", "", "the context of the kubeconfig; default: the current one")
	f.DurationVar(&m.options.Timeout, "timeout", m.options.Timeout, "how long to wait for a controller, in each step")
	return c
}

// migration shows the plan and carries it out.
func (a *app) migration(ctx context.Context, l moving) error {
	s, err := a.connect(ctx, a.site, a.roles)
	if err != nil {
		return err
	}
	cluster, err := a.kubernetes(l.kubeconfig, l.context)
	if err != nil {
		return err
	}
	l.options.Force = l.force
	m := &migrate.Migration{
		Cluster: cluster, Table: s.table, Groups: s, Reaches: a.roles.reach, Options: l.options, Version: "targetctl", Tell: a.tell(ctx, s),
		Say: func(line string) { fmt.Fprintln(a.Err, line) },
	}
	plan := m.Plan
	if l.back {
		plan = m.PlanBack
	}
	p, err := plan(ctx)
	if err != nil {
		return err
	}
	if err := a.print(p.Rows, func(w io.Writer) { a.grid(w, planRows(p.Rows)) }); err != nil {
		return err
	}
	return a.carryOut(ctx, l, m, p)
}

// carryOut fails where something stands in the way, after all the rest was
// done.
func (a *app) carryOut(ctx context.Context, l moving, m *migrate.Migration, p migrate.Plan) error {
	if p.Work() > 0 {
		going, err := a.confirm(l.change, fmt.Sprintf("Bindings to move: %d.", p.Work()))
		if err != nil || !going {
			return err
		}
		if err := m.Run(ctx, p); err != nil {
			return err
		}
		fmt.Fprintf(a.Err, "bindings moved: %d\n", p.Work())
	}
	switch n := p.Obstacles(); {
	case n > 0:
		return fmt.Errorf("bindings not moved: %d; the plan says what stands in the way", n)
	case p.Work() == 0:
		fmt.Fprintln(a.Err, "there is nothing to move")
	}
	return nil
}

func planRows(rows []migrate.Row) [][]string {
	if len(rows) == 0 {
		return nil
	}
	out := [][]string{{"BINDING", "TARGET GROUP", "WANTED", "LISTED BY LBC", "LEFTOVER", "WHAT HAPPENS"}}
	for _, r := range rows {
		listed, leftover, what := "-", strconv.Itoa(r.Leftover), r.What
		if r.Listed != nil {
			listed = strconv.Itoa(*r.Listed)
		}
		if r.Healthy > 0 {
			leftover += fmt.Sprintf(" (%d healthy)", r.Healthy)
		}
		if r.Obstacle != "" {
			what = "NOTHING: " + r.Obstacle
		}
		out = append(out, []string{r.Binding, orDash(r.TargetGroup.Name()), strconv.Itoa(r.Wanted), listed, leftover, what})
	}
	return out
}

// apiTimeout bounds each call to the Kubernetes API.
const apiTimeout = 30 * time.Second

// kubernetes finds the API as kubectl does.
func kubernetes(kubeconfig, name string) (client.Client, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: name}).ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, fmt.Errorf("the kubeconfig names no cluster: --kubeconfig or KUBECONFIG names another file, --context one of its contexts")
	case err != nil:
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.Timeout = apiTimeout
	config.WarningHandler = rest.NoWarnings{}
	scheme := runtime.NewScheme()
	if err := clientscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	for _, k := range kind.All {
		if err := k.AddToScheme(scheme); err != nil {
			return nil, err
		}
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("reach the Kubernetes API: %w", err)
	}
	return c, nil
}
