package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/ownership/history"
)

// leaving is the command line of retire and release.
type leaving struct {
	change
	cluster string
	group   string // release only
	retire  bool
	silence time.Duration
}

const forceLeaving = "take out healthy targets too"

const takesOut = "Targets that another owner holds stay in their groups, and so do healthy ones unless\n" +
	"--force is given. It takes more than a minute, since calls of the cluster may be\nunder way, and can be run again whenever it was interrupted."

func (a *app) clusterRetire() *cobra.Command {
	l := leaving{retire: true, silence: admin.Silence}
	c := &cobra.Command{
		Use:   "retire CLUSTER",
		Short: "Take out the targets of a cluster that is gone, and keep it out should it return",
		Long: "Mark a cluster that is gone as Retired, and take its targets out of all groups.\nShould it return, it registers nothing until undrain.\n\n" +
			"It is refused if a heartbeat comes within 5 minutes of watching.\n\n" + takesOut,
		Args: arguments("CLUSTER"),
		RunE: func(c *cobra.Command, args []string) error {
			l.cluster = args[0]
			return a.leave(c.Context(), l)
		},
	}
	l.bind(c.Flags(), forceLeaving)
	return c
}

func (a *app) release() *cobra.Command {
	l := leaving{silence: admin.Silence}
	c := &cobra.Command{
		Use:   "release --cluster CLUSTER",
		Short: "Take out the targets of a cluster that is gone, and leave its state as it is",
		Long:  "Take the targets of a cluster that is gone out of its groups, or out of one.\n\nIt is refused if a heartbeat comes within 5 minutes of watching.\n\n" + takesOut,
		Args:  arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if l.cluster == "" {
				return usageError{errors.New("--cluster is missing: the ID of the cluster whose targets are taken out")}
			}
			return a.leave(c.Context(), l)
		},
	}
	l.bind(c.Flags(), forceLeaving)
	c.Flags().StringVar(&l.cluster, "cluster", "", "the cluster (required)")
	c.Flags().StringVar(&l.group, "group", "", "ARN or name of one target group; default: all")
	return c
}

// leave has the targets of a cluster that is gone leave.
func (a *app) leave(ctx context.Context, l leaving) error {
	s, err := a.connect(ctx, a.site, a.roles)
	if err != nil {
		return err
	}
	out := admin.TakeOut{Table: s.table, Groups: s, Cluster: l.cluster, Healthy: l.force, Version: "targetctl", Why: "the cluster is gone", Progress: a.progress, Tell: a.tell(ctx, s)}
	if l.group != "" {
		if out.Only, err = s.group(ctx, "--group", l.group); err != nil {
			return err
		}
	}
	what, err := l.plan(ctx, s, out.Only)
	if err != nil {
		return err
	}
	if going, err := a.agree(l.change, what); err != nil || !going {
		return err
	}
	if err := a.prove(ctx, s, l); err != nil {
		return err
	}
	stay, err := out.Run(ctx)
	if err != nil {
		return err
	}
	if stay > 0 {
		fmt.Fprintf(a.Err, "%s: --force takes healthy ones out as well\n", counted(stay, "healthy target", "stay"))
	}
	return nil
}

// retention is how long the history has what targetctl did: as long as that of
// a controller by default.
const retention = 7 * 24 * time.Hour

// tell writes what was done into the history. Should that fail, what was done
// is done all the same.
func (a *app) tell(ctx context.Context, s *site) func(ownership.Key, []history.Event) {
	return func(key ownership.Key, events []history.Event) {
		e := history.NewEntry(key, "targetctl", a.now(), rand.Text(), events)
		e.Expires = e.Time.Add(retention)
		for _, part := range e.Split() {
			if err := s.history.Record(ctx, part); err != nil {
				fmt.Fprintf(a.Err, "the history will lack this: %v\n", err)
			}
		}
	}
}

// plan says what is about to be done. A cluster that has neither an entry nor
// records is misspelt.
func (l leaving) plan(ctx context.Context, s *site, only ownership.GroupARN) (intent, error) {
	shares, unread, err := admin.Shares(ctx, s.table, l.cluster)
	if err != nil {
		return intent{}, err
	}
	recorded := len(shares)+len(unread) > 0
	if _, err := s.table.Cluster(ctx, l.cluster); err != nil && (l.retire || !recorded || !errors.Is(err, ownership.ErrNotFound)) {
		return intent{}, err
	}
	what := intent{Does: l.does(), Cluster: l.cluster, Groups: perGroup(shares, only)}
	if l.retire {
		what.State = ownership.ClusterRetired
	}
	for _, u := range unread {
		what.Warnings = append(what.Warnings, fmt.Sprintf("%s cannot be read: %s", u.Item, u.Reason))
	}
	return what, nil
}

func (l leaving) does() string {
	which, from, then := "that are not healthy ", "their groups", ""
	if l.force {
		which = ""
	}
	if l.group != "" {
		from = "target group " + l.group
	}
	if l.retire {
		then = " The cluster becomes Retired."
	}
	return fmt.Sprintf("The targets of cluster %s %sleave %s, where no other owner holds them.%s", l.cluster, which, from, then)
}

// perGroup is how many targets the records have in each group, or in one.
func perGroup(shares []admin.Share, only ownership.GroupARN) []groupIntent {
	var groups []groupIntent
	for _, share := range shares {
		if only != "" && share.TargetGroup != only {
			continue
		}
		if n := len(groups); n == 0 || groups[n-1].TargetGroup != share.TargetGroup {
			groups = append(groups, groupIntent{TargetGroup: share.TargetGroup})
		}
		groups[len(groups)-1].Targets += share.Held + share.Releasing
	}
	return groups
}

// prove watches for heartbeats and then retires the cluster.
func (a *app) prove(ctx context.Context, s *site, l leaving) error {
	fmt.Fprintf(a.Err, "watching for heartbeats of cluster %s for %s\n", l.cluster, l.silence)
	if err := admin.WatchSilence(ctx, s.table, l.cluster, l.silence); err != nil {
		return fmt.Errorf("%w; drain a cluster that is running", err)
	}
	if !l.retire {
		return nil
	}
	if err := admin.SetState(ctx, s.table, l.cluster, ownership.ClusterRetired, ownership.ClusterActive, ownership.ClusterDrained); err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "cluster %s is Retired\n", l.cluster)
	return nil
}

func (a *app) progress(p admin.Progress) {
	switch {
	case p.Completed && p.Left == 0:
		fmt.Fprintf(a.Err, "%s: %s is done\n", p.Key.Group.Name(), p.Key.Owner)
	case p.Completed:
		fmt.Fprintf(a.Err, "%s: %s keeps %s\n", p.Key.Group.Name(), p.Key.Owner, admin.Count(p.Healthy, "healthy target"))
	default:
		fmt.Fprintf(a.Err, "%s: %s has %s: %s\n", p.Key.Group.Name(), p.Key.Owner, admin.Count(p.Left, "target"), p.Summary)
	}
}
