package admin

import (
	"fmt"
	"strings"
	"time"

	"target-ownership-controller/ownership"
)

// The checks of [Diagnose].
const (
	CheckClusterEntry       Check = "ClusterEntry"       // an entry of the registry that cannot be understood
	CheckClusterID          Check = "ClusterID"          // two clusters with one ID, or one with two
	CheckClusterSilent      Check = "ClusterSilent"      // no heartbeat
	CheckClusterClock       Check = "ClusterClock"       // a clock that goes wrong
	CheckClusterGone        Check = "ClusterGone"        // records of a cluster that is retired or unknown
	CheckGroupMissing       Check = "GroupMissing"       // records of a group that is gone
	CheckGroupRegion        Check = "GroupRegion"        // records of groups of another region
	CheckGroupUnread        Check = "GroupUnread"        // a group that could not be read
	CheckGroupUnhealthy     Check = "GroupUnhealthy"     // a group without a healthy target
	CheckRecordUnreadable   Check = "RecordUnreadable"   // a record that nobody understands
	CheckTargetUnregistered Check = "TargetUnregistered" // held, and not in the group
	CheckTargetStuck        Check = "TargetStuck"        // releasing, and still not gone
	CheckGroupExclusive     Check = "GroupExclusive"     // an owner means to have it for itself, and does not
	CheckTargetContested    Check = "TargetContested"    // held by two clusters
)

// Checks are the checks of [Diagnose], in that order.
var Checks = []Check{
	CheckClusterEntry, CheckClusterID, CheckClusterSilent, CheckClusterClock, CheckClusterGone,
	CheckGroupMissing, CheckGroupRegion, CheckGroupUnread, CheckGroupUnhealthy, CheckRecordUnreadable,
	CheckTargetUnregistered, CheckTargetStuck, CheckGroupExclusive, CheckTargetContested,
}

const (
	// quiet is for how long a heartbeat may stay away that is due every 10 s,
	// or every minute at most.
	quiet = 2 * time.Minute
	// overdue is for how long a target may be on its way in or out. A pass is
	// made every 5 minutes at the latest, by default, and D is one.
	overdue = 15 * time.Minute
	// contested is for how long a pod that moved may be in the records of two
	// clusters. A cluster that misses the end of a pod finds out in minutes.
	contested = time.Hour
	// skew is how far clocks may differ. The protocol works with any
	// difference; ages that people read do not.
	skew = 30 * time.Second
)

// Place is where a survey was made, for what a person is to type.
type Place struct {
	Table  string
	Region string // empty: not compared
}

// Diagnose tells what is wrong in a table, and what to do about it. It judges by
// the moment at which the registry was read. offset is what the clock of the
// table is ahead of the one that the survey was made by.
func Diagnose(s Survey, place Place, offset time.Duration) []Finding {
	d := diagnosis{place: place, now: s.ReadAt.Add(offset), clusters: byID(s.Clusters), unread: map[string]bool{}}
	for _, u := range s.Unreadable {
		d.unread[u.Item] = true
		d.add(SeverityError, CheckClusterEntry, "cluster "+u.Item, "its entry cannot be understood: "+u.Reason+", so that its controller does nothing",
			"upgrade the controllers and targetctl if they are older than the entry, else repair it: "+d.getItem("cluster", u.Item))
	}
	d.sameCluster(s.Clusters)
	for _, c := range s.Clusters {
		d.cluster(c, s.Groups)
	}
	d.unregistered(s.Groups)
	d.late(s.Groups)
	for _, g := range s.Groups {
		d.group(g)
	}
	SortFindings(d.findings)
	return d.findings
}

type diagnosis struct {
	findings
	place    Place
	now      time.Time
	clusters map[string]Cluster
	unread   map[string]bool // clusters whose entry cannot be understood
}

// getItem is the command that shows an item.
func (d *diagnosis) getItem(group, owner string) string {
	return fmt.Sprintf(`aws dynamodb get-item --table-name %s --consistent-read --key '{"targetGroup":{"S":%q},"owner":{"S":%q}}'`, d.place.Table, group, owner)
}

// silent reports whether the heartbeat of the cluster stays away. A watch that
// saw one is right whatever the clocks say; one that saw none may have been
// too short.
func (d *diagnosis) silent(c Cluster) bool {
	switch w := c.Watched; {
	case w == nil:
		return d.now.Sub(c.HeartbeatAt) > quiet
	case w.Heartbeats != 0:
		return false
	default:
		return w.Seconds > quiet.Seconds() || d.now.Sub(c.HeartbeatAt) > quiet
	}
}

// owned is what a cluster has in the groups.
func owned(groups []Group, cluster string) (targets, in int) {
	for _, g := range groups {
		n := 0
		for _, o := range g.Owners.Owners {
			if clusterOf(o) == cluster {
				n += o.Held + o.Releasing
			}
		}
		if targets += n; n > 0 {
			in++
		}
	}
	return targets, in
}

func clusterOf(o Owner) string {
	cluster, _, _ := strings.Cut(o.Owner, "/")
	return cluster
}

// binding is the command that shows the binding of an owner in its cluster.
func binding(o Owner) string {
	owner, err := ownership.ParseOwner(o.Owner)
	if err != nil {
		return o.Owner
	}
	kind, name := owner.Object()
	return fmt.Sprintf("kubectl -n %s describe %s %s", owner.Namespace, kind, name)
}

// Count is a number of things in words: 1 target, 2 targets.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func long(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", int(d.Hours()))
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d minutes", int(d.Minutes()))
	default:
		return fmt.Sprintf("%d seconds", int(d.Seconds()))
	}
}

// retired reports whether an operator has taken leave of the cluster.
func retired(c Cluster) bool { return c.State == ownership.ClusterRetired }
