package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"target-ownership-controller/cmd/targetctl/doctor"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
)

// errFindings: the command did what it was asked, and found something.
var errFindings = errors.New("something has to be done")

func (a *app) doctor() *cobra.Command {
	var look examining
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Find what is wrong with the table, permissions, clocks and records, and what to do",
		Long: "Look at the table, at the permissions of the credentials, at clocks, and at all\nthat is written in the table, and tell what to do about whatever is wrong.\n\n" +
			"With --writes it also tries what a controller may change, and changes nothing: a\nwrite to the table has a condition that no item fulfils, a registration is of what\nis no target.\n\n" +
			"Exit codes: 0 nothing is wrong, or notes alone; 3 something is; 1 it could not\nlook; 2 the command line cannot be carried out.",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.examine(c.Context(), look)
		},
	}
	f := c.Flags()
	f.DurationVar(&look.Watch, "watch-for", 15*time.Second, "count heartbeats for this long, which tells silent clusters and wrong clocks")
	f.StringSliceVar(&look.ignore, "ignore", nil, "names of checks, such as Permission, to leave out")
	f.BoolVar(&look.Writes, "writes", false, "also try what a controller may change, in the groups of --cluster and --group alone")
	f.StringSliceVar(&look.Clusters, "cluster", nil, "IDs of clusters whose groups are looked at, though the registry may not know them")
	f.StringSliceVar(&look.groups, "group", nil, "ARNs or names of target groups that are looked at, though no record may name them")
	return c
}

// examining is the command line of doctor.
type examining struct {
	doctor.Scope
	groups []string
	ignore []string
}

func (e examining) validate() error {
	for _, id := range e.Clusters {
		if err := ownership.ValidateClusterID(id); err != nil {
			return usageError{fmt.Errorf("--cluster: %w", err)}
		}
	}
	var names []string
	for _, check := range doctor.Checks() {
		names = append(names, string(check))
	}
	for _, name := range e.ignore {
		if !slices.Contains(names, name) {
			return usageError{fmt.Errorf("--ignore: there is no check %q, but %s", name, strings.Join(names, ", "))}
		}
	}
	return notNegative("watch-for", e.Watch)
}

func (a *app) examine(ctx context.Context, look examining) error {
	if err := look.validate(); err != nil {
		return err
	}
	s, err := a.connect(ctx, a.site, a.roles)
	if err != nil {
		return err
	}
	for _, name := range look.groups {
		group, err := s.group(ctx, "--group", name)
		if err != nil {
			return err
		}
		look.Groups = append(look.Groups, group)
	}
	report, err := s.examine(ctx, look.Scope)
	if err != nil {
		return err
	}
	report.Findings = slices.DeleteFunc(report.Findings, func(f admin.Finding) bool { return slices.Contains(look.ignore, string(f.Check)) })
	if err := a.print(report, func(w io.Writer) { a.showReport(w, report) }); err != nil {
		return err
	}
	if slices.ContainsFunc(report.Findings, func(f admin.Finding) bool { return f.Severity != admin.SeverityNote }) {
		return errFindings
	}
	return nil
}

func (a *app) showReport(w io.Writer, r doctor.Report) {
	counts := map[admin.Severity]int{}
	for _, f := range r.Findings {
		counts[f.Severity]++
		fmt.Fprintf(w, "%s  %s: %s\n  %s\n  to do: %s\n\n", a.paint(strings.ToUpper(string(f.Severity))), f.Check, f.Where, f.What, f.Do)
	}
	if len(r.Findings) == 0 {
		fmt.Fprintf(w, "nothing is wrong with table %s in %s\n", r.Table, r.Region)
		return
	}
	fmt.Fprintf(w, "table %s in %s: %s, %s, %s\n", r.Table, r.Region, admin.Count(counts[admin.SeverityError], "error"),
		admin.Count(counts[admin.SeverityWarning], "warning"), admin.Count(counts[admin.SeverityNote], "note"))
}
