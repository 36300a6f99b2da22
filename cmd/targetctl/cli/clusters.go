package cli

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"target-ownership-controller/ownership/admin"
)

const watchFor = "count heartbeats for this long, which tells a silent cluster whatever the clocks say"

func (a *app) clusters() *cobra.Command {
	var watch time.Duration
	c := &cobra.Command{
		Use:   "clusters",
		Short: "List the clusters that share the table",
		Args:  arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := notNegative("watch-for", watch); err != nil {
				return err
			}
			s, err := a.connect(c.Context(), a.site, a.roles)
			if err != nil {
				return err
			}
			list, err := admin.Clusters(c.Context(), s.table, watch)
			if err != nil {
				return err
			}
			return a.print(list, func(w io.Writer) {
				rows := [][]string{{"CLUSTER", "STATE", "VERSION", "HEARTBEAT", "WATCHED"}}
				for _, c := range list.Clusters {
					rows = append(rows, []string{c.ID, string(c.State), orDash(c.ControllerVersion), age(list.ReadAt, &c.HeartbeatAt), watched(c.Watched)})
				}
				a.grid(w, rows)
				a.unreadable(w, list.Unreadable)
			})
		},
	}
	c.Flags().DurationVar(&watch, "watch-for", 0, watchFor)
	return c
}

func (a *app) cluster() *cobra.Command {
	c := &cobra.Command{Use: "cluster", Short: "Show a cluster, or change its state", Args: subcommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(a.clusterShow(), a.clusterDrain(), a.clusterUndrain(), a.clusterRetire())
	return c
}

func (a *app) clusterShow() *cobra.Command {
	var watch time.Duration
	c := &cobra.Command{
		Use:   "show CLUSTER",
		Short: "Show a cluster's entry and its records in all target groups",
		Args:  arguments("CLUSTER"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := notNegative("watch-for", watch); err != nil {
				return err
			}
			s, err := a.connect(c.Context(), a.site, a.roles)
			if err != nil {
				return err
			}
			detail, err := admin.ShowCluster(c.Context(), s.table, args[0], watch)
			if err != nil {
				return err
			}
			return a.print(detail, func(w io.Writer) { a.showCluster(w, detail) })
		},
	}
	c.Flags().DurationVar(&watch, "watch-for", 0, watchFor)
	return c
}

func (a *app) showCluster(w io.Writer, d admin.ClusterDetail) {
	a.grid(w, [][]string{
		{"Cluster:", d.ID},
		{"State:", string(d.State)},
		{"Version:", orDash(d.ControllerVersion)},
		{"Fingerprint:", d.Fingerprint},
		{"Heartbeat:", fmt.Sprintf("%d, %s ago by the clocks", d.HeartbeatSeq, age(d.ReadAt, &d.HeartbeatAt))},
		{"Watched:", watched(d.Watched)},
	})
	fmt.Fprintln(w)
	rows := [][]string{{"TARGET GROUP", "OWNER", "HELD", "RELEASING", "WRITTEN"}}
	for _, r := range d.Records {
		rows = append(rows, []string{r.TargetGroup.Name(), r.Owner, strconv.Itoa(r.Held), strconv.Itoa(r.Releasing), a.age(&r.UpdatedAt)})
	}
	a.grid(w, rows)
	a.unreadable(w, d.Unreadable)
}

func watched(w *admin.Watched) string {
	switch {
	case w == nil:
		return "-"
	case w.Heartbeats == 0:
		return fmt.Sprintf("silent for %.0fs", w.Seconds)
	default:
		return fmt.Sprintf("%d in %.0fs", w.Heartbeats, w.Seconds)
	}
}

func (a *app) unreadable(w io.Writer, items []admin.Unreadable) {
	for _, u := range items {
		fmt.Fprintf(w, "\n%s cannot be read: %s\n", u.Item, u.Reason)
	}
}
