package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
)

// draining is the command line of drain.
type draining struct {
	change
	floor   int
	wait    bool
	timeout time.Duration
}

func (a *app) clusterDrain() *cobra.Command {
	var d draining
	c := &cobra.Command{
		Use:   "drain CLUSTER",
		Short: "Have a cluster take its targets out of all shared groups, and keep its bindings",
		Long: "Mark a cluster as Drained in the table. Its controller then takes its targets out\nof all groups that it shares, and brings them back after undrain. Groups that a\n" +
			"binding has for itself are left alone.\n\n" +
			"It is refused where other clusters keep fewer healthy targets in a group than --floor.",
		Args: arguments("CLUSTER"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := errors.Join(notNegative("floor", d.floor), notNegative("timeout", d.timeout)); err != nil {
				return err
			}
			s, err := a.connect(c.Context(), a.site, a.roles)
			if err != nil {
				return err
			}
			return a.drain(c.Context(), s, args[0], d)
		},
	}
	d.bind(c.Flags(), "drain also where too few healthy targets of other clusters are left")
	c.Flags().IntVar(&d.floor, "floor", 1, "healthy targets of other clusters that each group has to keep")
	c.Flags().BoolVar(&d.wait, "wait", false, "wait until the cluster has no target left in the groups that it shares, and show progress")
	c.Flags().DurationVar(&d.timeout, "timeout", 10*time.Minute, "how long --wait waits")
	return c
}

func (a *app) drain(ctx context.Context, s *site, id string, d draining) error {
	entry, err := s.table.Cluster(ctx, id)
	if err != nil {
		return err
	}
	if entry.State == ownership.ClusterDrained {
		if err := a.already(d.change, entry); err != nil || d.dryRun || !d.wait {
			return err
		}
		return a.empties(ctx, s, id, d.timeout)
	}
	what, err := a.drained(ctx, s, id, d)
	if err != nil {
		return err
	}
	going, err := a.agree(d.change, what)
	if err != nil || !going {
		return err
	}
	if err := admin.SetState(ctx, s.table, id, ownership.ClusterDrained, ownership.ClusterActive); err != nil {
		return err
	}
	// Another cluster may have been drained since the check. Each of the two
	// sees the other's state now, since both wrote theirs before looking.
	if err := d.check(ctx, s, id); err != nil {
		return errors.Join(err, admin.SetState(ctx, s.table, id, ownership.ClusterActive, ownership.ClusterDrained))
	}
	fmt.Fprintf(a.Err, "cluster %s is Drained\n", id)
	if !d.wait {
		return nil
	}
	return a.empties(ctx, s, id, d.timeout)
}

// drained is what the drain does. One that is forced goes on where that cannot
// be read.
func (a *app) drained(ctx context.Context, s *site, id string, d draining) (intent, error) {
	what := intent{
		Does:    fmt.Sprintf("Cluster %s becomes Drained: its targets leave all groups that it shares.", id),
		Cluster: id, State: ownership.ClusterDrained,
	}
	plan, err := admin.PlanDrain(ctx, s.table, s, id)
	if err != nil && d.force {
		what.Warnings = []string{"what leaves cannot be read: " + err.Error()}
		return what, nil
	}
	if err != nil {
		return intent{}, err
	}
	for _, g := range plan.Groups {
		what.Groups = append(what.Groups, groupIntent{g.TargetGroup, g.Leave, &g.Healthy})
	}
	what.Warnings = a.unheard(plan.Others)
	return what, d.refuse(id, plan)
}

// check is refuse, of what is in the table now.
func (d draining) check(ctx context.Context, s *site, id string) error {
	if d.force {
		return nil
	}
	plan, err := admin.PlanDrain(ctx, s.table, s, id)
	if err != nil {
		return err
	}
	return d.refuse(id, plan)
}

// refuse refuses a drain that leaves others too few healthy targets.
func (d draining) refuse(id string, plan admin.DrainPlan) error {
	below := plan.Below(d.floor)
	if d.force || len(below) == 0 {
		return nil
	}
	return fmt.Errorf("cluster %s is not drained, because too few healthy targets of other clusters would be left: %s; give --force to drain it all the same",
		id, describe(below, d.floor))
}

// silence is for how long a cluster is quiet before a drain that relies on it
// warns: a heartbeat is due every minute at most.
const silence = 75 * time.Second

// unheard are warnings about clusters that others will rely on.
func (a *app) unheard(clusters []admin.Cluster) []string {
	var warnings []string
	for _, c := range clusters {
		switch {
		case c.HeartbeatAt.IsZero():
			warnings = append(warnings, fmt.Sprintf("%s was never heard of, and its healthy targets are counted on", c.ID))
		case a.now().Sub(c.HeartbeatAt) > silence:
			warnings = append(warnings, fmt.Sprintf("%s has been silent for %s by its clock, and its healthy targets are counted on", c.ID, a.age(&c.HeartbeatAt)))
		}
	}
	return warnings
}

// empties waits for the targets that leave. It is an answer of its own that
// some do not.
func (a *app) empties(ctx context.Context, s *site, id string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	stay, err := admin.WaitEmpty(ctx, s.table, id, func(left int) { fmt.Fprintf(a.Err, "%s left\n", admin.Count(left, "target")) })
	if err != nil {
		return fmt.Errorf("wait for the targets of cluster %s to leave: %w; targetctl cluster show %s lists what is left", id, err, id)
	}
	if stay > 0 {
		fmt.Fprintf(a.Err, "%s, in groups that bindings of cluster %s have for themselves: delete these bindings, or set spec.multiClusterTargetGroup; targetctl cluster show %s lists them\n", counted(stay, "target", "stay"), id, id)
		return errFindings
	}
	return nil
}

func describe(below []admin.GroupDrain, floor int) string {
	var parts []string
	for _, r := range below {
		parts = append(parts, fmt.Sprintf("%s keeps %d of %d", r.TargetGroup.Name(), r.Healthy, floor))
	}
	return strings.Join(parts, ", ")
}

func (a *app) clusterUndrain() *cobra.Command {
	var flags change
	c := &cobra.Command{
		Use:   "undrain CLUSTER",
		Short: "Let a cluster that was drained or retired register its targets again",
		Args:  arguments("CLUSTER"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.connect(c.Context(), a.site, a.roles)
			if err != nil {
				return err
			}
			return a.undrain(c.Context(), s, args[0], flags)
		},
	}
	flags.bind(c.Flags(), "")
	return c
}

func (a *app) undrain(ctx context.Context, s *site, id string, flags change) error {
	entry, err := s.table.Cluster(ctx, id)
	if err != nil {
		return err
	}
	if entry.State == ownership.ClusterActive {
		return a.already(flags, entry)
	}
	going, err := a.agree(flags, intent{
		Does:    fmt.Sprintf("Cluster %s, which is %s, becomes Active: its controller registers its targets again.", id, entry.State),
		Cluster: id, State: ownership.ClusterActive,
	})
	if err != nil || !going {
		return err
	}
	if err := admin.SetState(ctx, s.table, id, ownership.ClusterActive, ownership.ClusterDrained, ownership.ClusterRetired); err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "cluster %s is Active\n", id)
	return nil
}
