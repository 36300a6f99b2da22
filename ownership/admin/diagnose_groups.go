package admin

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"target-ownership-controller/ownership"
)

// late finds groups that there was no time to read.
func (d *diagnosis) late(groups []Group) {
	var names []string
	for _, g := range groups {
		if g.Late {
			names = append(names, g.TargetGroup.Name())
		}
	}
	if len(names) > 0 {
		d.add(SeverityWarning, CheckGroupUnread, Count(len(names), "group"), fmt.Sprintf("there was no time left to read %d of %d, so that their targets are not looked at: %s", len(names), len(groups), few(names)),
			"targetctl owners GROUP looks at one, targetctl doctor at all of them")
	}
}

// group looks at one group.
func (d *diagnosis) group(g Group) {
	name := "group " + g.TargetGroup.Name()
	for _, u := range g.Unreadable {
		d.add(SeverityError, CheckRecordUnreadable, fmt.Sprintf("%s, record %s", name, u.Item), "it cannot be understood, and nothing is taken out of the group: "+u.Reason,
			"upgrade the controllers and targetctl if they are older than the record, else repair it: "+d.getItem(string(g.TargetGroup), u.Item))
	}
	if region := g.TargetGroup.Region(); d.place.Region != "" && region != d.place.Region {
		d.add(SeverityError, CheckGroupRegion, name, fmt.Sprintf("it is in %s, and this was asked in %s", region, d.place.Region),
			fmt.Sprintf("give --region %s; a table is for the groups of its own region", region))
		return
	}
	switch {
	case g.Late: // told once, of all of them
	case g.Missing:
		d.missing(name, g)
	case g.Problem != "":
		d.add(SeverityWarning, CheckGroupUnread, name, "it could not be read, so that its targets are not looked at: "+g.Problem,
			"run it again; aws elbv2 describe-target-health --target-group-arn "+string(g.TargetGroup))
	default:
		d.owners(name, g)
		d.unhealthy(name, g)
	}
}

func (d *diagnosis) missing(name string, g Group) {
	for _, o := range g.Owners.Owners {
		c, known := d.clusters[clusterOf(o)]
		do := fmt.Sprintf("targetctl release --cluster %s --group %s removes the record", clusterOf(o), g.TargetGroup)
		if known && !retired(c) && !d.silent(c) {
			do = fmt.Sprintf("correct the binding in cluster %s, or delete it: %s", clusterOf(o), binding(o))
		}
		d.add(SeverityWarning, CheckGroupMissing, name, fmt.Sprintf("there is no such target group, and the record of %s has %s in it", o.Owner, Count(o.Held+o.Releasing, "target")), do)
	}
}

// owners looks for targets that do not get where they are to be. Of a cluster
// that is silent or retired that is told once, of all its targets.
func (d *diagnosis) owners(name string, g Group) {
	for _, o := range g.Owners.Owners {
		c, known := d.clusters[clusterOf(o)]
		if !known || retired(c) || d.silent(c) {
			continue
		}
		explain := fmt.Sprintf("targetctl explain %s ", g.TargetGroup.Name())
		if late := d.overdue(o, ownership.Held, func(t Target) bool { return t.Health == NotRegistered }); len(late) > 0 && c.State == ownership.ClusterActive {
			d.add(SeverityWarning, CheckTargetUnregistered, name+", "+o.Owner, fmt.Sprintf("%s held for more than %s and not in the group: %s", Count(len(late), "target"), long(overdue), few(late)),
				explain+string(late[0])+"; in the cluster: "+binding(o))
		}
		if late := d.overdue(o, ownership.Releasing, func(Target) bool { return true }); len(late) > 0 {
			d.add(SeverityWarning, CheckTargetStuck, name+", "+o.Owner, fmt.Sprintf("%s to be taken out for more than %s: %s", Count(len(late), "target"), long(overdue), few(late)),
				explain+string(late[0])+"; in the cluster: "+binding(o))
		}
	}
	d.contested(name, g)
	d.exclusive(name, g)
}

// exclusive finds groups that one owner means to have for itself, and others
// have targets in. Each of them is safe: a record keeps its targets in. What
// nobody records is taken out.
func (d *diagnosis) exclusive(name string, g Group) {
	var alone, others []string
	for _, o := range g.Owners.Owners {
		switch {
		case o.Held+o.Releasing == 0:
		case o.Exclusive:
			alone = append(alone, o.Owner)
		default:
			others = append(others, o.Owner)
		}
	}
	if len(alone) > 1 || len(alone) == 1 && len(others) > 0 {
		d.add(SeverityWarning, CheckGroupExclusive, name, fmt.Sprintf("%s would have the group without others, takes out what nobody recorded, and shares it with %s", alone[0], few(append(alone[1:], others...))),
			"set spec.multiClusterTargetGroup: true in the bindings of clusters that share the group")
	}
}

func (d *diagnosis) overdue(o Owner, entry ownership.Entry, wrong func(Target) bool) []ownership.Target {
	var late []ownership.Target
	for _, t := range o.Targets {
		if t.Entry == entry.String() && d.since(t) > overdue && wrong(t) {
			late = append(late, t.Target)
		}
	}
	return late
}

// since is for how long the entry has been there; zero if nobody knows.
func (d *diagnosis) since(t Target) time.Duration {
	if t.Since == nil || t.Since.IsZero() {
		return 0
	}
	return d.now.Sub(*t.Since)
}

// contested finds targets that two clusters hold. That is how a pod that moves
// stays in the group. An address that stays in two records is the pod of one.
func (d *diagnosis) contested(name string, g Group) {
	holders := map[ownership.Target][]string{}
	for _, o := range g.Owners.Owners {
		for _, t := range o.Targets {
			if t.Entry == ownership.Held.String() && d.since(t) > contested && !slices.Contains(holders[t.Target], clusterOf(o)) {
				holders[t.Target] = append(holders[t.Target], clusterOf(o))
			}
		}
	}
	byClusters := map[string][]ownership.Target{}
	for _, t := range slices.Sorted(maps.Keys(holders)) {
		if between := holders[t]; len(between) > 1 {
			byClusters[strings.Join(between, " and ")] = append(byClusters[strings.Join(between, " and ")], t)
		}
	}
	for _, between := range slices.Sorted(maps.Keys(byClusters)) {
		targets := byClusters[between]
		d.add(SeverityWarning, CheckTargetContested, name, fmt.Sprintf("%s held by clusters %s for more than %s: %s; it stays until both let go, and at most one of them has it",
			Count(len(targets), "target"), between, long(contested), few(targets)),
			fmt.Sprintf("find it in both clusters: %s; targetctl explain %s %s tells who has held it since when", whose(targets[0]), g.TargetGroup.Name(), targets[0]))
	}
}

// whose is the command that shows whether a cluster has the target.
func whose(t ownership.Target) string {
	if strings.HasPrefix(t.ID(), "i-") {
		return "kubectl get nodes -o custom-columns=NAME:.metadata.name,ID:.spec.providerID"
	}
	return "kubectl get pods -A -o wide --field-selector status.podIP=" + t.ID()
}

// unhealthy finds a group that serves nothing.
func (d *diagnosis) unhealthy(name string, g Group) {
	registered := ownership.Set{}
	add := func(targets []Target) (serves bool) {
		for _, t := range targets {
			if t.Health == healthy || t.Health == initial {
				return true
			}
			if t.Health != NotRegistered && t.Health != draining {
				registered[t.Target] = true
			}
		}
		return false
	}
	for _, o := range g.Owners.Owners {
		if add(o.Targets) {
			return
		}
	}
	if add(g.External) || len(registered) == 0 {
		return
	}
	what := fmt.Sprintf("none of its %d registered targets is healthy", len(registered))
	if len(registered) == 1 {
		what = "its only registered target is not healthy"
	}
	d.add(SeverityWarning, CheckGroupUnhealthy, name, what,
		"aws elbv2 describe-target-health --target-group-arn "+string(g.TargetGroup)+" tells why; an unused group has no listener")
}

// few names some of the targets or groups.
func few[T ~string](all []T) string {
	const named = 3
	var names []string
	for _, t := range all[:min(len(all), named)] {
		names = append(names, string(t))
	}
	if more := len(all) - named; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
