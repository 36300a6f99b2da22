package binding

import (
	"fmt"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/metrics"
)

// expectReady is about the condition Ready and words of its message.
func (s *site) expectReady(name string, status metav1.ConditionStatus, reason v1beta1.ConditionReason, words ...string) {
	s.t.Helper()
	s.expectCondition(name, v1beta1.ConditionReady, status, reason, words...)
}

func (s *site) expectConsistent(name string, status metav1.ConditionStatus, reason v1beta1.ConditionReason, words ...string) {
	s.t.Helper()
	s.expectCondition(name, v1beta1.ConditionOwnershipConsistent, status, reason, words...)
}

func (s *site) expectCondition(name string, of v1beta1.ConditionType, status metav1.ConditionStatus, reason v1beta1.ConditionReason, words ...string) {
	s.t.Helper()
	b := s.binding(name)
	c := meta.FindStatusCondition(b.Status.Conditions, string(of))
	s.Expect(c).NotTo(BeNil(), "binding %s has no condition %s", name, of)
	s.Expect([]string{string(c.Status), c.Reason}).To(Equal([]string{string(status), string(reason)}), "%s of %s says: %s", of, name, c.Message)
	for _, word := range words {
		s.Expect(c.Message).To(ContainSubstring(word))
	}
	s.Expect(c.ObservedGeneration).To(Equal(b.Generation))
	s.Expect(b.Status.ObservedGeneration).To(Equal(b.Generation))
}

// expectReason is expectReady for any status but True.
func (s *site) expectReason(name string, reason v1beta1.ConditionReason, words ...string) {
	s.t.Helper()
	c := meta.FindStatusCondition(s.binding(name).Status.Conditions, string(v1beta1.ConditionReady))
	s.Expect(c).NotTo(BeNil(), "binding %s has no condition Ready", name)
	s.expectReady(name, c.Status, reason, words...)
	s.Expect(c.Status).NotTo(Equal(metav1.ConditionTrue))
}

func (s *site) expectReconciled(name string) {
	s.t.Helper()
	s.expectReady(name, metav1.ConditionTrue, v1beta1.ReasonReconciled)
}

func (s *site) expectCounts(name string, want v1beta1.TargetCounts) {
	s.t.Helper()
	s.Expect(s.binding(name).Status.Targets).To(HaveValue(Equal(want)))
}

// expectWaiting is about the targets that wait, as the metrics count them.
func (s *site) expectWaiting(name string, want map[string]int) {
	s.t.Helper()
	series := s.series()
	for _, reason := range metrics.Waiting {
		metric := fmt.Sprintf("target_ownership_waiting_targets %s %s %s", name, s.kind.Name, reason)
		s.Expect(series).To(HaveKeyWithValue(metric, float64(want[reason])))
	}
}

// expectRecord is about what the table says of the binding.
func (s *site) expectRecord(name string, held, releasing []string) {
	s.t.Helper()
	record, found := s.records()[s.owner(name)]
	s.Expect(found).To(BeTrue(), "%s has no record", s.owner(name))
	s.Expect(keys(record.Held)).To(ConsistOf(anys(held)...), "held")
	s.Expect(keys(record.Releasing)).To(ConsistOf(anys(releasing)...), "releasing")
}

func (s *site) expectNoRecord(name string) {
	s.t.Helper()
	s.Expect(s.records()).NotTo(HaveKey(s.owner(name)))
}

func (s *site) owner(name string) string { return s.id + "/" + s.namespace + "/" + s.kind.Owner(name) }

// expectGone is about the binding object.
func (s *site) expectGone(name string) {
	s.t.Helper()
	err := s.api.Client.Get(s.t.Context(), s.key(name), s.kind.New())
	s.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "binding %s is still there: %v", name, err)
}

// expectCalls is about all calls since the last forget, but those to a cache.
func (s *site) expectCalls(want map[string]int) {
	s.t.Helper()
	s.Expect(s.count()).To(Equal(want))
}

// expectRemovals is about how often this cluster took something out.
func (s *site) expectRemovals(n int) {
	s.t.Helper()
	s.Expect(s.sim.Count(s.id, "DeregisterTargets")).To(Equal(n), "calls of DeregisterTargets")
}

// expectEvents is about the events since the last look; a want is what one
// starts with.
func (s *site) expectEvents(wants ...string) {
	s.t.Helper()
	got := s.events.taken()
	matchers := make([]any, len(wants))
	for i, want := range wants {
		matchers[i] = HavePrefix(want)
	}
	s.Expect(got).To(HaveExactElements(matchers...))
}
