package demo

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
)

// example has one pod in each cluster; the address of west's is still
// recorded by east. west is about to take out an old pod.
func example() view {
	v := newView("east", "west")
	v.addRecords(ownership.Records{Records: []ownership.Record{
		record("east", []string{"10.1.0.10:8080", "10.99.0.7:8080"}, nil),
		record("west", []string{"10.99.0.7:8080"}, []string{"10.2.0.1:8080"}),
	}})
	v.addPods("east", []string{"10.1.0.10"})
	v.addPods("west", []string{"10.99.0.7"})
	for _, t := range []string{byHand, "10.1.0.10:8080", "10.99.0.7:8080"} {
		v.health[t] = "healthy"
	}
	return v
}

func record(cluster string, held, releasing []string) ownership.Record {
	r := ownership.Record{Owner: ownership.Owner{Cluster: cluster, Namespace: "shop", Name: "web"}}.Clone()
	for _, t := range held {
		r.Held[ownership.Target(t)] = time.Time{}
	}
	for _, t := range releasing {
		r.Releasing[ownership.Target(t)] = time.Time{}
	}
	return r
}

func TestRowsSayWhoOwnsWhat(t *testing.T) {
	g := NewWithT(t)
	v := example()
	g.Expect(v.header()).To(Equal([]string{"TARGET", "IN THE GROUP", "EAST'S RECORD", "WEST'S RECORD", "WHAT IT IS"}))
	g.Expect(v.rows()).To(Equal([][]string{
		{"10.1.0.10:8080", "healthy", "held", "-", "pod in east"},
		{"10.2.0.1:8080", "no", "-", "releasing", "pod is gone"},
		{"10.9.0.9:8080", "healthy", "-", "-", "put in by hand"},
		{"10.99.0.7:8080", "healthy", "held", "held", "pod in west"},
	}))
	g.Expect(v.rows("10.2.0.1:8080")).To(HaveLen(1))
}

func TestUnsettledSaysWhatIsStillToCome(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*view)
		want   string
	}{
		{"as it is", func(*view) {}, "in the record of east: too many 10.99.0.7:8080"},
		{"east has let go", letGo, "in the record of west: 1 leaving"},
		{"west has taken out", func(v *view) { letGo(v); v.releasing["west"] = set{} }, ""},
		{"the hand-made target is gone", func(v *view) { delete(v.health, byHand) }, "in the group: missing 10.9.0.9:8080"},
		{"a leak", func(v *view) { v.health["10.2.0.1:8080"] = "healthy" }, "in the group: too many 10.2.0.1:8080"},
		{"not checked yet", func(v *view) {
			letGo(v)
			v.releasing["west"] = set{}
			v.health[byHand] = "initial"
		}, "a health check of 10.9.0.9:8080"},
	} {
		v := example()
		tt.change(&v)
		NewWithT(t).Expect(v.unsettled()).To(Equal(tt.want), tt.name)
	}
}

func letGo(v *view) { delete(v.held["east"], "10.99.0.7:8080") }

func TestAClusterThatIsGoneIsWantedAsRecorded(t *testing.T) {
	g := NewWithT(t)
	v := example()
	delete(v.pods, "east")
	v.held["east"]["10.1.0.11:8080"] = true
	g.Expect(v.wanted().sorted()).To(Equal([]string{"10.1.0.10:8080", "10.1.0.11:8080", byHand, "10.99.0.7:8080"}))
}
