package cli

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
)

func (a *app) owners() *cobra.Command {
	return &cobra.Command{
		Use:   "owners GROUP",
		Short: "Show who owns which targets of a target group",
		Long:  "Show who owns which targets of a target group, given by its ARN or its name,\nhow healthy they are, and which targets no record names.",
		Args:  arguments("GROUP"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.connect(c.Context(), a.site, a.roles)
			if err != nil {
				return err
			}
			group, err := s.group(c.Context(), "GROUP", args[0])
			if err != nil {
				return err
			}
			owners, err := admin.ListOwners(c.Context(), s.table, s, group)
			if err != nil {
				return err
			}
			return a.print(owners, func(w io.Writer) { a.showOwners(w, owners) })
		},
	}
}

func (a *app) showOwners(w io.Writer, o admin.Owners) {
	owners := [][]string{{"OWNER", "CLUSTER STATE", "HEARTBEAT", "HELD", "HEALTHY", "RELEASING"}}
	targets := [][]string{{"TARGET", "HEALTH", "ENTRY", "SINCE", "OWNER"}}
	for _, owner := range o.Owners {
		owners = append(owners, []string{
			owner.Owner, orDash(string(owner.State)), a.age(owner.HeartbeatAt),
			strconv.Itoa(owner.Held), strconv.Itoa(owner.Healthy), strconv.Itoa(owner.Releasing),
		})
		for _, t := range owner.Targets {
			targets = append(targets, []string{string(t.Target), t.Health, t.Entry, a.age(t.Since), owner.Owner})
		}
	}
	for _, t := range o.External {
		whose := "external: no record names it"
		if t.Leaving {
			whose = "leaving: connections end (targetctl history tells who took it out)"
		}
		targets = append(targets, []string{string(t.Target), t.Health, "-", "-", whose})
	}
	a.grid(w, owners)
	fmt.Fprintln(w)
	a.grid(w, targets)
	a.unreadable(w, o.Unreadable)
}

func (a *app) explain() *cobra.Command {
	return &cobra.Command{
		Use:   "explain GROUP TARGET",
		Short: "Tell who has a target, and why it would or would not be removed",
		Long: "Tell who has a target of a target group, since when, and what the protocol does about it.\n\n" +
			"GROUP is an ARN or a name. TARGET is as the table has it: 10.0.0.5:8080,\n[2001:db8::5]:8080 or i-0abc:30080.",
		Args: arguments("GROUP", "TARGET"),
		RunE: func(c *cobra.Command, args []string) error {
			target, err := ownership.ParseTarget(args[1])
			if err != nil {
				return usageError{err}
			}
			s, err := a.connect(c.Context(), a.site, a.roles)
			if err != nil {
				return err
			}
			group, err := s.group(c.Context(), "GROUP", args[0])
			if err != nil {
				return err
			}
			e, err := admin.Explain(c.Context(), s.table, s, group, target)
			if err != nil {
				return err
			}
			return a.print(e, func(w io.Writer) { a.showExplanation(w, e) })
		},
	}
}

func (a *app) showExplanation(w io.Writer, e admin.Explanation) {
	fmt.Fprintf(w, "%s in %s: %s\n", e.Target, e.TargetGroup.Name(), a.paint(e.Health))
	for _, entry := range e.Entries {
		fmt.Fprintf(w, "\n%s: %s for %s, cluster %s, heartbeat %s ago\n", entry.Owner, a.paint(entry.Entry),
			a.age(&entry.Since), orDash(string(entry.State)), a.age(entry.HeartbeatAt))
		verdicts(w, entry.Verdicts)
	}
	if e.Leaving {
		fmt.Fprintf(w, "\nit leaves: no record names it any more, and its connections end\n  targetctl history %s %s tells who took it out\n", e.TargetGroup.Name(), e.Target)
	}
	if len(e.Unrecorded) > 0 {
		fmt.Fprintf(w, "\nno record names it\n")
		verdicts(w, e.Unrecorded)
	}
	a.unreadable(w, e.Unreadable)
}

func verdicts(w io.Writer, verdicts []admin.Verdict) {
	for _, v := range verdicts {
		fmt.Fprintf(w, "  if %s: %s (%s)\n", v.If, v.Action, v.Reason)
	}
}
