// Package cli is the commands of targetctl: flags, output and exit codes. What
// they do is in package admin.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/cmd/internal/awsconfig"
	"target-ownership-controller/ownership"
)

// The exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
	exitFound   = 3 // of doctor
)

// Streams are where a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// app is one run of the command.
type app struct {
	Streams
	site    awsconfig.Site
	roles   roles
	output  string
	started bool // the command line was understood
	connect func(context.Context, awsconfig.Site, roles) (*site, error)
	// kubernetes is for migrate alone: the API of a kubeconfig and a context.
	kubernetes func(kubeconfig, context string) (client.Client, error)
	now        func() time.Time
}

// usageError is a command line that cannot be carried out.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Run carries out the command line, whose first element is the name of the
// program, and returns the exit code.
func Run(ctx context.Context, streams Streams, version string, line []string) int {
	return (&app{Streams: streams, connect: connect, kubernetes: kubernetes, now: time.Now}).run(ctx, version, line)
}

func (a *app) run(ctx context.Context, version string, line []string) int {
	root := a.root(version, line[0])
	refuseUnknownShells(root)
	root.SetArgs(line[1:])
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFindings):
		return exitFound
	}
	fmt.Fprintf(a.Err, "targetctl: %s\n", explained(err, a.site))
	if _, usage := errors.AsType[usageError](err); usage || !a.started {
		fmt.Fprintln(a.Err, "--help tells what can be given")
		return exitUsage
	}
	return exitFailure
}

// refuseUnknownShells has completion take the shells that it knows alone.
func refuseUnknownShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args, c.RunE = subcommand, func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}

// explained is an error in words for whoever typed the command.
func explained(err error, s awsconfig.Site) string {
	missing, ok := errors.AsType[*awsconfig.NoCredentials](err)
	switch {
	case !ok:
		return err.Error() + blame(err, s)
	case missing.NothingSet:
		return "no AWS credentials found: set AWS_PROFILE to a profile of the AWS configuration, after aws sso login if it is one of IAM Identity Center, " +
			"or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; aws sts get-caller-identity shows which the AWS CLI has"
	default:
		return fmt.Sprintf("no AWS credentials: the source that is configured gives none: %v; aws sso login renews those of IAM Identity Center, and AWS_PROFILE names another profile", missing.Cause)
	}
}

// blame names the flag behind an error that the table or AWS cannot blame on
// it.
func blame(err error, s awsconfig.Site) string {
	switch host := awsconfig.UnknownHost(err); {
	case host != "":
		return fmt.Sprintf("; there is no host %s: --region may be misspelt, or DNS does not answer for AWS", host)
	case errors.Is(err, ownership.ErrTableMissing):
		return fmt.Sprintf("; --table %s and --region say which table it is, and targetctl doctor looks closer", s.Table)
	case errors.Is(err, ownership.ErrNotFound):
		return "; targetctl clusters lists those that there are"
	default:
		return ""
	}
}

var formats = []string{"table", "json", "yaml"}

func (a *app) root(version, program string) *cobra.Command {
	root := &cobra.Command{
		Use:   "targetctl",
		Short: "Show who owns which targets of shared target groups",
		Long: "Show who owns which targets of the ELBv2 target groups that several clusters share.\n\n" +
			"It works on the ownership table and the load balancer alone, and needs no cluster,\nbut for migrate.\n\n" +
			"Exit codes: 0 done, 1 failed, 2 the command line cannot be carried out, 3 doctor\nfound something, or targets stay after drain --wait.",
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          subcommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	if strings.HasPrefix(filepath.Base(program), "kubectl-") {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl targetctl"}
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if !slices.Contains(formats, a.output) {
			return fmt.Errorf("--output: %q is not one of %s", a.output, strings.Join(formats, ", "))
		}
		if err := a.site.Validate(); err != nil {
			return err
		}
		if _, err := a.roles.byAccount(); err != nil {
			return err
		}
		a.started = true
		return nil
	}
	flags := root.PersistentFlags()
	a.site.Bind(flags)
	a.roles.bind(flags)
	flags.StringVarP(&a.output, "output", "o", formats[0], "table, json or yaml")
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	// No argument is a file, and names of clusters and groups would take calls.
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.AddCommand(a.clusters(), a.cluster(), a.owners(), a.explain(), a.history(), a.release(), a.migrate(), a.doctor(), a.serve(version), a.tables())
	return root
}
