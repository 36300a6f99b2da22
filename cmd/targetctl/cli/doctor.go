package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"target-ownership-controller/cmd/targetctl/doctor"
	"target-ownership-controller/ownership/admin"
)

// errFindings: the command did what it was asked, and found something.
var errFindings = errors.New("something has to be done")

func (a *app) doctor() *cobra.Command {
	var watch time.Duration
	var ignore []string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Find what is wrong with the table, permissions, clocks and records, and what to do",
		Long: "Look at the table, at the permissions of the credentials, at clocks, and at all\nthat is written in the table, and tell what to do about whatever is wrong.\n\n" +
			"It changes nothing: what writes is tried with a condition that cannot hold.\n\n" +
			"Exit codes: 0 nothing is wrong, or notes alone; 3 something is; 1 it could not\nlook; 2 the command line cannot be carried out.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.connect(c.Context(), a.site)
			if err != nil {
				return err
			}
			report, err := s.examine(c.Context(), watch)
			if err != nil {
				return err
			}
			report.Findings = slices.DeleteFunc(report.Findings, func(f admin.Finding) bool { return slices.Contains(ignore, string(f.Check)) })
			if err := a.print(report, func(w io.Writer) { a.showReport(w, report) }); err != nil {
				return err
			}
			if slices.ContainsFunc(report.Findings, func(f admin.Finding) bool { return f.Severity != admin.SeverityNote }) {
				return errFindings
			}
			return nil
		},
	}
	c.Flags().DurationVar(&watch, "watch-for", 15*time.Second, "count heartbeats for this long, which tells silent clusters and wrong clocks")
	c.Flags().StringSliceVar(&ignore, "ignore", nil, "names of checks, such as Permission, to leave out")
	return c
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
	fmt.Fprintf(w, "table %s in %s: %d errors, %d warnings, %d notes\n", r.Table, r.Region,
		counts[admin.SeverityError], counts[admin.SeverityWarning], counts[admin.SeverityNote])
}
