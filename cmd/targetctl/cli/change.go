package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
)

// change is how a command that changes something is let do so.
type change struct {
	dryRun bool
	yes    bool
	force  bool
}

func (c *change) bind(f *pflag.FlagSet, force string) {
	f.BoolVar(&c.dryRun, "dry-run", false, "say what would be done, and do nothing")
	f.BoolVarP(&c.yes, "yes", "y", false, "do not ask for confirmation")
	if force != "" {
		f.BoolVar(&c.force, "force", false, force)
	}
}

var errNotConfirmed = errors.New("not confirmed, so nothing was changed; type yes, or give --yes")

// intent is what a command is about to do. To --dry-run it is the answer.
type intent struct {
	Does     string                 `json:"does"`
	Table    string                 `json:"table,omitempty"`
	Cluster  string                 `json:"cluster,omitempty"`
	State    ownership.ClusterState `json:"state,omitempty"` // that the cluster gets
	Groups   []groupIntent          `json:"groups,omitempty"`
	Warnings []string               `json:"warnings,omitempty"`
}

// groupIntent is what it does to a group.
type groupIntent struct {
	TargetGroup ownership.GroupARN `json:"targetGroup"`
	Targets     int                `json:"targets"`                   // of the cluster
	Healthy     *int               `json:"healthyOfOthers,omitempty"` // of drain: those that stay
}

func (i intent) String() string {
	lines := []string{i.Does}
	for _, g := range i.Groups {
		line := fmt.Sprintf("  %s: %s", g.TargetGroup.Name(), admin.Count(g.Targets, "target"))
		if g.Healthy != nil {
			line = fmt.Sprintf("  %s: %s, others keep %s", g.TargetGroup.Name(), counted(g.Targets, "target", "leave"), admin.Count(*g.Healthy, "healthy target"))
		}
		lines = append(lines, line)
	}
	for _, w := range i.Warnings {
		lines = append(lines, "warning: "+w)
	}
	return strings.Join(lines, "\n")
}

// agree is confirm, with an answer for scripts.
func (a *app) agree(c change, i intent) (bool, error) {
	if c.dryRun && a.output != formats[0] {
		return false, a.print(i, nil)
	}
	return a.confirm(c, i.String())
}

// already says that the cluster is what it shall be, and asks nobody.
func (a *app) already(c change, entry ownership.Cluster) error {
	what := intent{Does: fmt.Sprintf("cluster %s is %s already", entry.ID, entry.State), Cluster: entry.ID, State: entry.State}
	if !c.dryRun {
		fmt.Fprintln(a.Err, what.Does)
		return nil
	}
	_, err := a.agree(c, what)
	return err
}

// confirm says what is about to be done and asks, unless --yes was given. It
// reports false for --dry-run.
func (a *app) confirm(c change, what string) (bool, error) {
	switch {
	case c.dryRun:
		fmt.Fprintf(a.Err, "dry run: %s\n", what)
		return false, nil
	case c.yes:
		return true, nil
	}
	fmt.Fprintf(a.Err, "%s\nType yes to go on: ", what)
	answer, _ := bufio.NewReader(a.In).ReadString('\n') // an end without an answer is none
	if !a.typed() || !strings.HasSuffix(answer, "\n") {
		fmt.Fprintln(a.Err) // nobody has ended the line
	}
	if strings.TrimSpace(answer) != "yes" {
		return false, errNotConfirmed
	}
	return true, nil
}

// typed reports whether the answer comes from a terminal, which shows it.
func (a *app) typed() bool {
	file, isFile := a.In.(*os.File)
	return isFile && term.IsTerminal(int(file.Fd()))
}
