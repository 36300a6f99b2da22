package admin_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
)

const elsewhere ownership.GroupARN = "arn:aws:elasticloadbalancing:us-east-1:111122223333:targetgroup/red/0123456789abcdef"

var now = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// listings are what the load balancer lists of each group; a group that is not
// among them does not exist.
type listings map[ownership.GroupARN]admin.Health

func (l listings) Health(_ context.Context, group ownership.GroupARN) (admin.Health, error) {
	health, found := l[group]
	if !found {
		return nil, ownership.ErrGroupMissing
	}
	return health, nil
}

// plant changes a site in which all is well: a and b share a group, each has
// a healthy target, and both beat every 10 s.
type plant func(b *bench, l listings)

// diagnose makes a survey after ten heartbeats of the clusters that beat, as
// somebody does who watched for the last three of them.
func diagnose(t *testing.T, fault plant, beating ...string) []admin.Finding {
	var found []admin.Finding
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.record("a", targets{x}, nil)
		b.record("b", targets{y}, nil)
		l := listings{arn: {x: "healthy", y: "healthy", "10.9.9.9:80": "healthy"}}
		time.Sleep(2 * time.Hour)
		b.beatAll(beating)
		if fault != nil {
			fault(b, l)
		}
		go func() {
			for range 3 {
				time.Sleep(10 * time.Second)
				b.beatAll(beating)
			}
		}()
		watched, err := admin.Clusters(t.Context(), b.table, 35*time.Second)
		b.Expect(err).NotTo(HaveOccurred())
		s, err := admin.TakeSurvey(t.Context(), b.table, l, []ownership.GroupARN{arn})
		b.Expect(err).NotTo(HaveOccurred())
		s.ClusterList = watched
		found = admin.Diagnose(s, admin.Place{Table: "owners", Region: "eu-west-1"}, 0)
	})
	return found
}

func (b *bench) beatAll(ids []string) {
	for _, id := range ids {
		b.beat(id)
	}
}

func TestNothingIsWrong(t *testing.T) {
	NewWithT(t).Expect(diagnose(t, nil, "a", "b")).To(BeEmpty())
}

func TestDiagnose(t *testing.T) {
	for name, c := range map[string]struct {
		fault   plant
		silent  string
		check   admin.Check
		where   string
		what    string
		do      string
		besides []admin.Check // that follow from the fault
	}{
		"a cluster is silent": {
			silent: "b", check: admin.CheckClusterSilent, where: "cluster b",
			what: "nobody looks after its 1 target in 1 group", do: "targetctl cluster retire b",
		},
		"a cluster was retired and has targets": {
			fault: func(b *bench, _ listings) {
				b.table.EditCluster("b", func(c *ownership.Cluster) { c.State = ownership.ClusterRetired })
			},
			check: admin.CheckClusterGone, where: "cluster b", what: "still have 1 target in 1 group", do: "targetctl release --cluster b ",
		},
		"records without a cluster": {
			fault: func(b *bench, _ listings) { b.record("ghost", targets{x}, nil) },
			check: admin.CheckClusterGone, where: "cluster ghost", what: "the registry has no such cluster", do: "targetctl release --cluster ghost",
		},
		"an entry cannot be read": {
			fault: func(b *bench, _ listings) { b.table.BreakCluster("c", "attribute state is missing") },
			check: admin.CheckClusterEntry, where: "cluster c", what: "attribute state is missing", do: `aws dynamodb get-item --table-name owners`,
		},
		"a state that nobody knows": {
			fault: func(b *bench, _ listings) {
				b.table.EditCluster("b", func(c *ownership.Cluster) { c.State = "Quarantined" })
			},
			silent: "b", check: admin.CheckClusterEntry, where: "cluster b", what: `"Quarantined" is unknown`, do: "upgrade",
		},
		"one cluster has two IDs": {
			fault: func(b *bench, _ listings) {
				b.beat("c")
				b.table.EditCluster("c", func(c *ownership.Cluster) { c.Fingerprint = "uid-a"; c.HeartbeatAt = time.Time{} })
			},
			check: admin.CheckClusterID, where: "clusters a and c", what: "UID uid-a", do: "targetctl cluster retire c",
			besides: []admin.Check{admin.CheckClusterSilent},
		},
		"two clusters claim one ID": {
			fault: func(b *bench, _ listings) {
				go func() {
					time.Sleep(25 * time.Second)
					b.table.EditCluster("b", func(c *ownership.Cluster) { c.Fingerprint = "uid-other" })
				}()
			},
			check: admin.CheckClusterID, where: "cluster b", what: "had the UID uid-b, and then uid-other", do: "another --cluster-id",
		},
		"a clock is ahead": {
			fault:  shiftedBeat(time.Hour),
			silent: "b", check: admin.CheckClusterClock, where: "cluster b", what: "ahead by 59 minutes", do: "chronyc",
		},
		"a clock is behind": {
			fault:  shiftedBeat(-time.Hour),
			silent: "b", check: admin.CheckClusterClock, where: "cluster b", what: "behind by 60 minutes", do: "chronyc",
		},
		"a record cannot be read": {
			fault: func(b *bench, _ listings) {
				b.table.Break(ownership.Key{Group: arn, Owner: owner("b")}, "attribute held is missing")
			},
			check: admin.CheckRecordUnreadable, where: "group blue, record b/shop/web", what: "nothing is taken out", do: `"owner":{"S":"b/shop/web"}`,
		},
		"a group is gone": {
			fault: func(_ *bench, l listings) { delete(l, arn) },
			check: admin.CheckGroupMissing, where: "group blue", what: "no such target group", do: "kubectl -n shop describe targetgroupbinding web",
			besides: []admin.Check{admin.CheckGroupMissing},
		},
		"a group is gone that a SharedTargetGroupBinding names": {
			fault: func(b *bench, l listings) {
				delete(l, arn)
				shared := ownership.Owner{Cluster: "a", Namespace: "shop", Name: "stgb:api"}
				r := ownership.Record{Group: arn, Owner: shared, BindingUID: "uid", Revision: ownership.Revision{Version: 1, WriteID: "w"}}.Clone()
				b.Expect(b.table.Put(b.ctx, r, ownership.Revision{})).To(Succeed())
			},
			check: admin.CheckGroupMissing, where: "group blue", what: "the record of a/shop/stgb:api", do: "kubectl -n shop describe sharedtargetgroupbinding api",
			besides: []admin.Check{admin.CheckGroupMissing, admin.CheckGroupMissing},
		},
		"a group of another region": {
			fault: func(b *bench, l listings) {
				r := ownership.Record{Group: elsewhere, Owner: owner("b"), BindingUID: "uid", Revision: ownership.Revision{Version: 1, WriteID: "w"}}.Clone()
				b.Expect(b.table.Put(b.ctx, r, ownership.Revision{})).To(Succeed())
			},
			check: admin.CheckGroupRegion, where: "group red", what: "us-east-1", do: "--region us-east-1",
		},
		"held and not in the group": {
			fault: func(_ *bench, l listings) { delete(l[arn], y) },
			check: admin.CheckTargetUnregistered, where: "group blue, b/shop/web", what: "1 target held for more than 15 minutes", do: "targetctl explain blue 10.0.0.2:80",
		},
		"never taken out": {
			fault: func(b *bench, _ listings) {
				r := *b.stored("b")
				seen := r.Revision
				r.Releasing[y] = r.Held[y]
				delete(r.Held, y)
				r.Revision = ownership.Revision{Version: 2, WriteID: "2"}
				b.Expect(b.table.Put(b.ctx, r, seen)).To(Succeed())
			},
			check: admin.CheckTargetStuck, where: "group blue, b/shop/web", what: "to be taken out for more than 15 minutes: 10.0.0.2:80", do: "targetctl explain blue 10.0.0.2:80",
		},
		"held by two clusters": {
			fault: func(b *bench, _ listings) {
				r := *b.stored("b")
				seen := r.Revision
				r.Held[x] = r.Held[y]
				r.Revision = ownership.Revision{Version: 2, WriteID: "2"}
				b.Expect(b.table.Put(b.ctx, r, seen)).To(Succeed())
			},
			check: admin.CheckTargetContested, where: "group blue", what: "clusters a and b", do: "status.podIP=10.0.0.1",
		},
		"an exclusive binding is not alone": {
			fault: func(b *bench, _ listings) { b.alone("b") },
			check: admin.CheckGroupExclusive, where: "group blue", what: "b/shop/web would have the group without others, takes out what nobody recorded, and shares it with a/shop/web", do: "multiClusterTargetGroup: true",
		},
		"nothing is healthy": {
			fault: func(_ *bench, l listings) { l[arn] = admin.Health{x: "unhealthy", y: "unused"} },
			check: admin.CheckGroupUnhealthy, where: "group blue", what: "none of its 2 registered targets", do: "aws elbv2 describe-target-health",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			beating := []string{"a", "b"}
			if c.silent != "" {
				beating = []string{"a"}
			}
			found := diagnose(t, c.fault, beating...)
			var others []admin.Check
			var the *admin.Finding
			for _, f := range found {
				if the == nil && f.Check == c.check && f.Where == c.where {
					the = &f
					continue
				}
				others = append(others, f.Check)
			}
			g.Expect(the).NotTo(BeNil(), "%+v", found)
			g.Expect(others).To(Equal(c.besides), "%+v", found)
			g.Expect(the.What).To(ContainSubstring(c.what))
			g.Expect(the.Do).To(ContainSubstring(c.do))
		})
	}
}

// shiftedBeat has cluster b beat by a clock that is wrong.
func shiftedBeat(by time.Duration) plant {
	return func(b *bench, _ listings) {
		beat := func() {
			b.beat("b")
			b.table.EditCluster("b", func(c *ownership.Cluster) { c.HeartbeatAt = c.HeartbeatAt.Add(by) })
		}
		beat()
		go func() {
			for range 3 {
				time.Sleep(10 * time.Second)
				beat()
			}
		}()
	}
}

// A heartbeat that was seen is one, whatever its clock says; one that stays
// away for a moment is none that is missing.
func TestSilence(t *testing.T) {
	for name, c := range map[string]struct {
		cluster admin.Cluster
		silent  bool
	}{
		"old by its clock":          {admin.Cluster{HeartbeatAt: now.Add(-3 * time.Minute)}, true},
		"new by its clock":          {admin.Cluster{HeartbeatAt: now.Add(-time.Minute)}, false},
		"seen, old by its clock":    {admin.Cluster{HeartbeatAt: now.Add(-time.Hour), Watched: &admin.Watched{Seconds: 15, Heartbeats: 1}}, false},
		"unseen for a moment":       {admin.Cluster{HeartbeatAt: now.Add(-time.Minute), Watched: &admin.Watched{Seconds: 15}}, false},
		"unseen, new by its clock":  {admin.Cluster{HeartbeatAt: now.Add(time.Hour), Watched: &admin.Watched{Seconds: 150}}, true},
		"unseen and old by a clock": {admin.Cluster{HeartbeatAt: now.Add(-time.Hour), Watched: &admin.Watched{Seconds: 15}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			c.cluster.ID, c.cluster.State = "a", ownership.ClusterActive
			found := admin.Diagnose(admin.Survey{ClusterList: admin.ClusterList{ReadAt: now, Clusters: []admin.Cluster{c.cluster}}}, admin.Place{}, 0)
			silent := false
			for _, f := range found {
				silent = silent || f.Check == admin.CheckClusterSilent
			}
			NewWithT(t).Expect(silent).To(Equal(c.silent), "%+v", found)
		})
	}
}

// A group that cannot be read hides no other, and its targets are not called
// missing.
func TestSurveyOfAGroupThatCannotBeRead(t *testing.T) {
	b := newBench(t)
	b.record("a", targets{x}, nil)
	s, err := admin.TakeSurvey(t.Context(), b.table, refusing{}, nil)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(s.Groups).To(HaveLen(1))
	b.Expect(s.Groups[0].Problem).To(ContainSubstring("throttling"))
	b.Expect(s.Groups[0].Owners.Owners[0].Targets[0].Health).To(Equal(admin.Unknown))
	found := admin.Diagnose(s, admin.Place{}, 0)
	b.Expect(found).To(HaveLen(1))
	b.Expect(found[0].Check).To(Equal(admin.CheckGroupUnread))
	b.Expect(strings.Count(found[0].What, "throttling")).To(Equal(1))
}

type refusing struct{}

func (refusing) Health(context.Context, ownership.GroupARN) (admin.Health, error) {
	return nil, ownership.ErrGroupThrottled
}

// Marks of a target are of its owner's point of view.
func TestMarks(t *testing.T) {
	b := newBench(t)
	b.record("a", targets{x, y}, nil)
	b.record("b", targets{x}, targets{y})
	o, err := admin.ListOwners(t.Context(), b.table, listing{x: "healthy", y: "healthy"}, arn)
	b.Expect(err).NotTo(HaveOccurred())
	marks := map[string][2]bool{}
	for _, owner := range o.Owners {
		for _, target := range owner.Targets {
			marks[owner.Owner+" "+string(target.Target)] = [2]bool{target.Shared, target.Blocked}
		}
	}
	b.Expect(marks).To(Equal(map[string][2]bool{
		"a/shop/web 10.0.0.1:80": {true, false},
		"a/shop/web 10.0.0.2:80": {false, true},
		"b/shop/web 10.0.0.1:80": {true, false},
		"b/shop/web 10.0.0.2:80": {true, false},
	}))
}

// A record without targets has a list that is empty, and not null.
func TestOwnerWithoutTargets(t *testing.T) {
	b := newBench(t)
	b.record("a", nil, nil)
	o, err := admin.ListOwners(t.Context(), b.table, listing{}, arn)
	b.Expect(err).NotTo(HaveOccurred())
	text, err := json.Marshal(o)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(string(text)).To(And(ContainSubstring(`"targets":[]`), ContainSubstring(`"external":[]`)))
}
