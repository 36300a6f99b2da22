package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
)

// account is what happened in a group.
type account struct {
	Group   ownership.GroupARN `json:"targetGroup"`
	Target  ownership.Target   `json:"target,omitempty"`
	Entries []history.Entry    `json:"entries"` // from the newest to the oldest
}

func (a *app) history() *cobra.Command {
	var since time.Duration
	var limit int
	c := &cobra.Command{
		Use:   "history GROUP [TARGET]",
		Short: "Tell what was done to the targets of a group, by whom and why",
		Long: "Tell what controllers did to the targets of a group, or to one of them, the newest\nfirst. A controller that runs with --history-retention=0 tells nothing.\n\n" +
			"GROUP is an ARN or a name. TARGET is as the table has it: 10.0.0.5:8080,\n[2001:db8::5]:8080 or i-0abc:30080.",
		Args: optional(1, "GROUP", "TARGET"),
		RunE: func(c *cobra.Command, args []string) error {
			query := history.Query{Since: a.now().Add(-since), Limit: limit}
			if since < 0 || limit < 0 {
				return usageError{fmt.Errorf("--since and --limit: %s and %d are not 0 or more", since, limit)}
			}
			if len(args) > 1 {
				target, err := ownership.ParseTarget(args[1])
				if err != nil {
					return usageError{err}
				}
				query.Target = target
			}
			s, err := a.connect(c.Context(), a.site, a.roles)
			if err != nil {
				return err
			}
			if query.Group, err = s.group(c.Context(), "GROUP", args[0]); err != nil {
				return err
			}
			told := account{Group: query.Group, Target: query.Target, Entries: []history.Entry{}}
			for entry, err := range s.history.History(c.Context(), query) {
				if err != nil {
					return err
				}
				told.Entries = append(told.Entries, entry)
			}
			return a.print(told, func(w io.Writer) { a.showHistory(w, told) })
		},
	}
	c.Flags().DurationVar(&since, "since", 24*time.Hour, "how far to look back")
	c.Flags().IntVar(&limit, "limit", 200, "how many passes to show at most; 0 for all")
	return c
}

func (a *app) showHistory(w io.Writer, told account) {
	if len(told.Entries) == 0 {
		fmt.Fprintln(w, "nothing was recorded in that time")
		return
	}
	rows := [][]string{{"TIME", "OWNER", "WHAT", "TARGETS", "WHY"}}
	for _, e := range told.Entries {
		at, owner := e.Time.UTC().Format(time.RFC3339), acted(e)
		for _, event := range e.Events {
			if told.Target != "" && event.More == 0 && !slices.Contains(event.Targets, told.Target) {
				continue
			}
			rows = append(rows, []string{at, owner, string(event.What), named(event), because(event)})
			at, owner = "", "" // once for each pass
		}
	}
	a.grid(w, rows)
}

// acted is whose targets these are, and who acted if that was not the owner's
// controller.
func acted(e history.Entry) string {
	owner := e.Cluster + "/" + e.Binding
	if e.By == "" || strings.HasPrefix(e.By, "controller") {
		return owner
	}
	return owner + ", by " + e.By
}

// named is the targets of an event, as many as a line has room for.
func named(e history.Event) string {
	const room = 3
	var names []string
	for _, t := range e.Targets[:min(len(e.Targets), room)] {
		names = append(names, string(t))
	}
	if more := len(e.Targets) - len(names) + e.More; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, " ")
}

func because(e history.Event) string {
	if len(e.Others) == 0 {
		return e.Reason
	}
	return fmt.Sprintf("%s (%s)", e.Reason, strings.Join(e.Others, ", "))
}
