package admin

import (
	"fmt"
	"slices"
	"time"
)

// sameCluster finds one cluster under two IDs.
func (d *diagnosis) sameCluster(clusters []Cluster) {
	seen := map[string]Cluster{}
	for _, c := range clusters {
		if retired(c) {
			continue
		}
		first, twice := seen[c.Fingerprint]
		if !twice {
			seen[c.Fingerprint] = c
			continue
		}
		old, use := first, c
		if d.silent(c) && !d.silent(first) {
			old, use = c, first
		}
		d.add(SeverityWarning, CheckClusterID, fmt.Sprintf("clusters %s and %s", first.ID, c.ID),
			"both are the cluster whose kube-system namespace has the UID "+c.Fingerprint+": it was renamed, or one is a copy of the other",
			fmt.Sprintf("if %s is what it was called before it became %s: targetctl cluster retire %s; if one is a copy, give its kube-system namespace another UID by making the cluster anew", old.ID, use.ID, old.ID))
	}
}

// cluster looks at one entry.
func (d *diagnosis) cluster(c Cluster, groups []Group) {
	d.changedHands(c)
	d.clock(c)
	targets, in := owned(groups, c.ID)
	has := fmt.Sprintf("%s in %s", Count(targets, "target"), Count(in, "group"))
	where := "cluster " + c.ID
	switch {
	case !c.State.Known():
		d.add(SeverityError, CheckClusterEntry, where, fmt.Sprintf("its state %q is unknown, so that its controller does nothing", c.State),
			"upgrade the controller and targetctl if a newer version wrote it, else set it: "+d.getItem("cluster", c.ID)+" shows the entry; its state has to be Active, Drained or Retired")
	case retired(c) && targets > 0:
		d.add(SeverityWarning, CheckClusterGone, where, "it is retired, and its records still have "+has,
			"targetctl release --cluster "+c.ID+" takes them out; with --force the healthy ones too")
	case !retired(c) && d.silent(c):
		d.quiet(c, targets, has)
	}
}

func (d *diagnosis) quiet(c Cluster, targets int, has string) {
	severity, what := SeverityNote, ", and it has no targets"
	if targets > 0 {
		severity, what = SeverityWarning, ", and nobody looks after its "+has
	}
	d.add(severity, CheckClusterSilent, "cluster "+c.ID, "no heartbeat "+d.heard(c)+what,
		"look after its controller; if the cluster is gone for good: targetctl cluster retire "+c.ID)
}

// heard tells when a cluster was last heard of.
func (d *diagnosis) heard(c Cluster) string {
	if c.Watched != nil && c.Watched.Seconds > quiet.Seconds() {
		return "for " + long(time.Duration(c.Watched.Seconds*float64(time.Second))) + " and more"
	}
	if c.HeartbeatAt.IsZero() {
		return "that has a time"
	}
	return "for " + long(d.now.Sub(c.HeartbeatAt)) + ", by its clock"
}

// changedHands finds two clusters that take an ID from each other.
func (d *diagnosis) changedHands(c Cluster) {
	w := c.Watched
	if w == nil || w.Was == "" && w.Heartbeats >= 0 {
		return
	}
	what := fmt.Sprintf("its heartbeat went back by %d: two clusters write its entry", -w.Heartbeats)
	if w.Was != "" {
		what = fmt.Sprintf("two clusters claim it: its kube-system namespace had the UID %s, and then %s", w.Was, c.Fingerprint)
	}
	d.add(SeverityError, CheckClusterID, "cluster "+c.ID, what, "give one of the two another --cluster-id; targetctl cluster show "+c.ID+" lists the records that are under this one")
}

// clock compares the time that the cluster wrote with the time at which it
// must have written it: within the watch, or before now.
func (d *diagnosis) clock(c Cluster) {
	var what string
	switch w := c.Watched; {
	case c.HeartbeatAt.Sub(d.now) > skew:
		what = "ahead by " + long(c.HeartbeatAt.Sub(d.now))
	case w != nil && w.Heartbeats > 0 && d.now.Sub(c.HeartbeatAt) > time.Duration(w.Seconds*float64(time.Second))+skew:
		what = "behind by " + long(d.now.Sub(c.HeartbeatAt))
	default:
		return
	}
	d.add(SeverityWarning, CheckClusterClock, "cluster "+c.ID, "the clock of its controller is "+what+", and all ages of its targets are wrong by that",
		"set the clock of its nodes: chronyc tracking, or timedatectl, on the node of its leader")
}

// unregistered finds records of clusters that have no entry.
func (d *diagnosis) unregistered(groups []Group) {
	var unknown []string
	for _, g := range groups {
		for _, o := range g.Owners.Owners {
			id := clusterOf(o)
			if _, known := d.clusters[id]; !known && !d.unread[id] {
				unknown = append(unknown, id)
			}
		}
	}
	slices.Sort(unknown)
	for _, id := range slices.Compact(unknown) {
		targets, in := owned(groups, id)
		d.add(SeverityWarning, CheckClusterGone, "cluster "+id,
			fmt.Sprintf("the registry has no such cluster, and its records have %s in %s", Count(targets, "target"), Count(in, "group")),
			"if it is gone for good: targetctl release --cluster "+id+"; if it is there, its controller does not run, or runs with another --cluster-id")
	}
}
