package demo

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"target-ownership-controller/ownership"
	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/kube"
)

// view is who owns what at one moment: the group, the records and the pods,
// each by target.
type view struct {
	sites     []string
	health    map[string]string // of the registered targets
	draining  int
	held      map[string]set // by site, as its record says
	releasing map[string]set
	pods      map[string]set // by site, of ready pods; none for a site that is gone
}

func newView(sites ...string) view {
	v := view{sites: sites, health: map[string]string{}, held: map[string]set{}, releasing: map[string]set{}, pods: map[string]set{}}
	for _, site := range sites {
		v.held[site], v.releasing[site] = set{}, set{}
	}
	return v
}

func (v *view) addRecords(read ownership.Records) {
	for _, r := range read.Records {
		for t := range r.Held {
			v.held[r.Owner.Cluster][string(t)] = true
		}
		for t := range r.Releasing {
			v.releasing[r.Owner.Cluster][string(t)] = true
		}
	}
}

func (v *view) addPods(site string, addresses []string) {
	v.pods[site] = set{}
	for _, address := range addresses {
		v.pods[site][target(address)] = true
	}
}

func (v *view) addTargets(targets []elbsim.TargetStatus) {
	for _, t := range targets {
		if t.Registered() {
			v.health[t.Target.Key()] = string(t.Health.State)
		} else {
			v.draining++
		}
	}
}

// target is the target of a pod.
func target(address string) string {
	return net.JoinHostPort(address, strconv.Itoa(kube.TargetPort))
}

func (v view) registered() set {
	registered := set{}
	for t := range v.health {
		registered[t] = true
	}
	return registered
}

// wanted is what the group should be: the ready pods of all clusters, what
// the record of a cluster that is gone holds, and the target put in by hand.
func (v view) wanted() set {
	wanted := set{byHand: true}
	for _, site := range v.sites {
		serving, running := v.pods[site]
		if !running {
			serving = v.held[site]
		}
		maps.Copy(wanted, serving)
	}
	return wanted
}

// unsettled says what is still to come: the group or a record differs from
// the pods, or a target has not been checked for health yet.
func (v view) unsettled() string {
	if v.sites == nil {
		return "nothing read"
	}
	if err := difference(v.registered(), v.wanted()); err != nil {
		return "in the group: " + err.Error()
	}
	for _, site := range v.sites {
		pods, running := v.pods[site]
		if !running {
			continue
		}
		if err := difference(v.held[site], pods); err != nil {
			return "in the record of " + site + ": " + err.Error()
		}
		if n := len(v.releasing[site]); n > 0 {
			return fmt.Sprintf("in the record of %s: %d leaving", site, n)
		}
	}
	for t, health := range v.health {
		if health == "initial" {
			return "a health check of " + t
		}
	}
	return ""
}

func (v view) header() []string {
	header := []string{"TARGET", "IN THE GROUP"}
	for _, site := range v.sites {
		header = append(header, strings.ToUpper(site)+"'S RECORD")
	}
	return append(header, "WHAT IT IS")
}

// rows lists the targets that are registered or recorded, by address; or only
// those given.
func (v view) rows(only ...string) [][]string {
	all := v.registered()
	for _, site := range v.sites {
		maps.Copy(all, v.held[site])
		maps.Copy(all, v.releasing[site])
	}
	targets := only
	if len(only) == 0 {
		targets = all.sorted()
		slices.SortFunc(targets, compareTargets)
	}
	var rows [][]string
	for _, t := range targets {
		row := []string{t, cmp.Or(v.health[t], "no")}
		for _, site := range v.sites {
			row = append(row, v.entry(site, t))
		}
		rows = append(rows, append(row, v.what(t)))
	}
	return rows
}

// compareTargets sorts 10.1.0.9 before 10.1.0.10.
func compareTargets(a, b string) int {
	x, errX := netip.ParseAddrPort(a)
	y, errY := netip.ParseAddrPort(b)
	if errX != nil || errY != nil {
		return cmp.Compare(a, b)
	}
	return x.Compare(y)
}

func (v view) entry(site, t string) string {
	switch {
	case v.held[site][t]:
		return "held"
	case v.releasing[site][t]:
		return "releasing"
	default:
		return "-"
	}
}

func (v view) what(t string) string {
	var pods []string
	for _, site := range v.sites {
		if v.pods[site][t] {
			pods = append(pods, site)
		}
	}
	switch {
	case t == byHand:
		return "put in by hand"
	case len(pods) > 0:
		return "pod in " + strings.Join(pods, " and ")
	default:
		return "pod is gone"
	}
}
