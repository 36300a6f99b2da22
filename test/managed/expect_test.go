package managed

import (
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership"
	"target-ownership-controller/test/elbsim"
)

func (w *world) bindings() map[string]*v1beta1.TargetGroupBinding {
	w.t.Helper()
	list := w.kind.NewList()
	w.Expect(cluster.Client.List(w.t.Context(), list, client.InNamespace(w.namespace))).To(Succeed())
	all := map[string]*v1beta1.TargetGroupBinding{}
	for _, o := range w.kind.Items(list) {
		all[o.GetName()] = w.kind.Binding(o)
	}
	return all
}

// only is the one binding that there is.
func (w *world) only() *v1beta1.TargetGroupBinding {
	w.t.Helper()
	var found *v1beta1.TargetGroupBinding
	w.Eventually(func(g Gomega) {
		all := w.bindings()
		g.Expect(all).To(HaveLen(1))
		for _, b := range all {
			found = b
		}
	}).Should(Succeed())
	return found
}

func (w *world) eventuallyBindings(n int) {
	w.t.Helper()
	w.Eventually(func() []string { return slices.Collect(maps.Keys(w.bindings())) }).Should(HaveLen(n))
}

// eventuallyKept is about the bindings that are not on their way out, which
// takes a minute after a target was taken out and the controller started anew.
func (w *world) eventuallyKept(n int) {
	w.t.Helper()
	w.Eventually(func() []string {
		var kept []string
		for name, b := range w.bindings() {
			if b.DeletionTimestamp == nil {
				kept = append(kept, name)
			}
		}
		return kept
	}).Should(HaveLen(n))
}

func (w *world) eventuallyGroup(name string, targets ...string) {
	w.t.Helper()
	w.Eventually(func() []string { return w.sim.Registered(w.groups[name].ARN) }).Should(ConsistOf(anys(targets)...), "group %s", name)
}

// events are those of an object: how often each reason was seen.
func (w *world) events(name string) map[string]int {
	w.t.Helper()
	seen := map[string]int{}
	for _, note := range w.notes(name) {
		reason, _, _ := strings.Cut(note, ": ")
		seen[reason]++
	}
	return seen
}

// notes are what the events of an object say, after their reasons.
func (w *world) notes(name string) (notes []string) {
	w.t.Helper()
	var list eventsv1.EventList
	w.Expect(cluster.Client.List(w.t.Context(), &list, client.InNamespace(w.namespace))).To(Succeed())
	for _, e := range list.Items {
		if e.Regarding.Name == name {
			notes = append(notes, e.Reason+": "+e.Note)
		}
	}
	return notes
}

func (w *world) eventuallyEvent(name, reason string) {
	w.t.Helper()
	w.Eventually(func() map[string]int { return w.events(name) }).Should(HaveKey(reason))
}

// nothingLeaves begins a time in which no target is taken out of any group.
func (w *world) nothingLeaves() (check func()) {
	before := w.sim.Count("east", "DeregisterTargets")
	return func() {
		w.t.Helper()
		w.Expect(w.sim.Count("east", "DeregisterTargets")).To(Equal(before), "calls of DeregisterTargets")
	}
}

// isAlwaysSomewhere begins a time in which a target that is in one group is in
// one at every moment.
func (w *world) isAlwaysSomewhere(target string) (check func()) {
	w.t.Helper()
	in := map[string]bool{}
	for _, g := range w.groups {
		in[g.ARN] = slices.Contains(w.sim.Registered(g.ARN), target)
	}
	outside := 0
	cancel := w.sim.Observe(func(m elbsim.Mutation) {
		in[m.Call.Group] = slices.Contains(elbsim.Registered(m.Targets), target)
		if !slices.Contains(slices.Collect(maps.Values(in)), true) {
			outside++
		}
	})
	return func() {
		w.t.Helper()
		cancel()
		w.Expect(outside).To(BeZero(), "moments of %s outside all groups", target)
	}
}

// held are the targets that the table says this cluster has, of any group.
func (w *world) held() []string {
	w.t.Helper()
	all := []string{}
	for _, g := range w.groups {
		read, err := w.table.Records(w.t.Context(), ownership.GroupARN(g.ARN))
		w.Expect(err).NotTo(HaveOccurred())
		for _, r := range read.Records {
			for target := range r.Held {
				all = append(all, string(target))
			}
		}
	}
	return all
}

func ready(b *v1beta1.TargetGroupBinding) bool {
	for _, c := range b.Status.Conditions {
		if c.Type == string(v1beta1.ConditionReady) {
			return c.Status == metav1.ConditionTrue && c.ObservedGeneration == b.Generation
		}
	}
	return false
}

func anys(list []string) []any {
	all := make([]any, len(list))
	for i, item := range list {
		all[i] = item
	}
	return all
}
