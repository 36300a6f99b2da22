package demo

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/test/elbsim"
)

// rig is a guard of a group and of records that a test changes by hand.
type rig struct {
	*guard
	group   set
	records ownership.Records
	err     error
}

func newRig() *rig {
	r := &rig{group: set{}}
	r.guard = newGuard(byHand, func(context.Context) (ownership.Records, error) { return r.records, r.err })
	r.register("by-hand", byHand)
	return r
}

func (r *rig) record(records ...ownership.Record) { r.records = ownership.Records{Records: records} }

func (r *rig) register(caller, t string) {
	r.group[t] = true
	r.mutate(caller, "RegisterTargets", t)
}

func (r *rig) deregister(caller, t string) {
	delete(r.group, t)
	r.mutate(caller, "DeregisterTargets", t)
}

func (r *rig) mutate(caller, action, t string) {
	m := elbsim.Mutation{Call: elbsim.Call{Caller: caller, Action: action, Targets: []string{t}}}
	for _, key := range r.group.sorted() {
		parsed, err := elbsim.ParseTarget(key)
		if err != nil {
			panic(err)
		}
		m.Targets = append(m.Targets, elbsim.TargetStatus{Target: parsed})
	}
	r.observe(m)
}

const moved = "10.99.0.7:8080"

func holds(cluster string) ownership.Record    { return record(cluster, []string{moved}, nil) }
func releases(cluster string) ownership.Record { return record(cluster, nil, []string{moved}) }

func TestGuardAcceptsWhatTheProtocolAllows(t *testing.T) {
	g := NewWithT(t)
	r := newRig()
	r.record(holds("east"))
	r.register("east", moved)
	r.record(holds("east"), holds("west"))
	r.register("west", moved) // shared
	r.record(releases("west"), holds("east"))
	r.register("east", moved) // again, which is no change
	r.record(releases("east"))
	r.deregister("east", moved) // the last one
	r.deregister("east", moved) // again, which is no removal

	seen, _ := r.seen()
	g.Expect(r.harmless().problem).NotTo(HaveOccurred())
	g.Expect(r.recorded().problem).NotTo(HaveOccurred())
	g.Expect([]int{seen.changes, seen.registrations, seen.removals}).To(Equal([]int{6, 2, 1}))
	g.Expect(r.removalsOf(moved)).To(Equal(1))
}

func TestGuardSeesAForeignRemoval(t *testing.T) {
	g := NewWithT(t)
	r := newRig()
	r.record(holds("east"))
	r.register("east", moved)
	r.record(holds("east"), holds("west"))
	r.register("west", moved)
	r.record(releases("east"), holds("west"))
	r.deregister("east", moved)
	g.Expect(r.harmless().problem).To(MatchError(ContainSubstring("east took out 10.99.0.7:8080, which is in the group for [west]")))
	g.Expect(r.recorded().problem).NotTo(HaveOccurred())
}

func TestGuardSeesARemovalOfTheHandMadeTarget(t *testing.T) {
	r := newRig()
	r.deregister("east", byHand)
	NewWithT(t).Expect(r.harmless().problem).To(MatchError(ContainSubstring("east took out 10.9.0.9:8080, which was put in by hand")))
}

func TestGuardSeesATargetWithoutRecord(t *testing.T) {
	g := NewWithT(t)
	r := newRig()
	r.record(holds("east"))
	r.register("east", moved)
	g.Expect(r.recorded().problem).NotTo(HaveOccurred())
	r.record()
	r.register("west", "10.2.0.1:8080")
	g.Expect(r.recorded().problem).To(MatchError(And(ContainSubstring(moved), ContainSubstring("10.2.0.1:8080"))))
}

func TestGuardThatCannotReadDoesNotPass(t *testing.T) {
	r := newRig()
	r.err = errors.New("no answer")
	r.register("east", moved)
	NewWithT(t).Expect(r.recorded().problem).To(MatchError(ContainSubstring("no answer")))
}

func TestGuardRemembersTheFewest(t *testing.T) {
	g := NewWithT(t)
	r := newRig()
	r.record(holds("east"))
	r.register("east", moved)
	r.watch()
	_, fewest := r.seen()
	g.Expect(fewest).To(Equal(2))
	r.deregister("east", moved)
	r.register("east", moved)
	_, fewest = r.seen()
	g.Expect(fewest).To(Equal(1))
}
