package readiness

import (
	"errors"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/binding"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/ownership"
)

const target = ownership.Target("10.0.0.1:8080")

// What is known of a binding decides before the load balancer is asked.
func TestJudge(t *testing.T) {
	reconciled := binding.Outcome{UID: "uid", Reason: v1beta1.ReasonReconciled, Group: elb.Group{Name: "web", TargetType: "ip"}}
	failed := func(reason v1beta1.ConditionReason) func(*binding.Outcome) {
		return func(o *binding.Outcome) { o.Reason, o.Message, o.Failed = reason, "why", true }
	}
	stands := func(s binding.Standing) func(*binding.Outcome) {
		return func(o *binding.Outcome) { o.Waiting = map[types.UID]binding.Standing{"pod": s} }
	}
	for name, c := range map[string]struct {
		outcome func(*binding.Outcome)
		deleted bool
		labels  map[string]string
		status  corev1.ConditionStatus
		reason  string
		ask     bool
	}{
		"registered":              {outcome: stands(binding.Standing{Registered: true}), ask: true},
		"blocked":                 {outcome: stands(binding.Standing{Reason: v1beta1.ReasonBlocked}), status: corev1.ConditionFalse, reason: "Blocked"},
		"left out by a policy":    {outcome: stands(binding.Standing{Reason: v1beta1.ReasonLimited}), status: corev1.ConditionTrue, reason: "Limited"},
		"no endpoint yet":         {status: corev1.ConditionFalse, reason: "NoEndpoint"},
		"not selected":            {labels: map[string]string{"app": "other"}, status: corev1.ConditionTrue, reason: "NotSelected"},
		"deleted":                 {deleted: true, status: corev1.ConditionTrue, reason: "NoBinding"},
		"deleted, and in trouble": {deleted: true, outcome: failed(v1beta1.ReasonInvalidSpec), status: corev1.ConditionTrue, reason: "NoBinding"},
		"another of its name":     {outcome: func(o *binding.Outcome) { o.UID = "earlier" }, status: corev1.ConditionFalse, reason: "Pending"},
		"group of nodes":          {outcome: func(o *binding.Outcome) { o.Group.TargetType = "instance" }, status: corev1.ConditionTrue, reason: "TargetsAreNodes"},
		"no group":                {outcome: failed(v1beta1.ReasonGroupNotFound), status: corev1.ConditionTrue, reason: "GroupNotFound"},
		"no Service":              {outcome: failed(v1beta1.ReasonServiceNotFound), status: corev1.ConditionTrue, reason: "ServiceNotFound"},
		"drained":                 {outcome: failed(v1beta1.ReasonClusterDrained), status: corev1.ConditionTrue, reason: "ClusterDrained"},
		"retired":                 {outcome: failed(v1beta1.ReasonClusterRetired), status: corev1.ConditionTrue, reason: "ClusterRetired"},
		"wrong spec":              {outcome: failed(v1beta1.ReasonInvalidSpec), status: corev1.ConditionFalse, reason: "InvalidSpec"},
		"not allowed":             {outcome: failed(v1beta1.ReasonNotAllowed), status: corev1.ConditionFalse, reason: "NotAllowed"},
		"table gone":              {outcome: failed(v1beta1.ReasonTableUnavailable), status: corev1.ConditionFalse, reason: "TableUnavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			b := bindingOf(kind.TargetGroupBinding, "web", "web", intstr.FromInt32(80))
			b.UID = "uid"
			if c.deleted {
				b.DeletionTimestamp = &metav1.Time{Time: time.Now()}
			}
			o := reconciled
			if c.outcome != nil {
				c.outcome(&o)
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "pod", Labels: map[string]string{"app": "web"}}}
			if c.labels != nil {
				pod.Labels = c.labels
			}
			service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}}}
			v := judge(b, &o, service, pod)
			g.Expect(v.status).To(Equal(c.status))
			g.Expect(v.reason).To(Equal(c.reason))
			g.Expect(v.ask).To(Equal(c.ask))
		})
	}
	b := bindingOf(kind.TargetGroupBinding, "web", "web", intstr.FromInt32(80))
	v := judge(b, nil, nil, &corev1.Pod{})
	NewWithT(t).Expect([]string{string(v.status), v.reason}).To(Equal([]string{"False", "Pending"}), "not worked on yet")
}

func TestOfHealth(t *testing.T) {
	for name, c := range map[string]struct {
		listed *elb.Health
		err    error
		status corev1.ConditionStatus
		reason string
	}{
		"healthy":               {listed: &elb.Health{State: elb.Healthy}, status: corev1.ConditionTrue, reason: "Healthy"},
		"no health checks":      {listed: &elb.Health{State: elb.Unavailable, Reason: "Target.HealthCheckDisabled"}, status: corev1.ConditionTrue, reason: "Target.HealthCheckDisabled"},
		"unavailable otherwise": {listed: &elb.Health{State: elb.Unavailable, Reason: "Elb.InternalError"}, status: corev1.ConditionFalse, reason: "Elb.InternalError"},
		"initial":               {listed: &elb.Health{State: elb.Initial, Reason: "Elb.RegistrationInProgress"}, status: corev1.ConditionFalse, reason: "Elb.RegistrationInProgress"},
		"unhealthy":             {listed: &elb.Health{State: elb.Unhealthy, Reason: "Target.Timeout"}, status: corev1.ConditionFalse, reason: "Target.Timeout"},
		"unused":                {listed: &elb.Health{State: elb.Unused, Reason: "Target.NotInUse"}, status: corev1.ConditionFalse, reason: "Target.NotInUse"},
		"without a reason":      {listed: &elb.Health{State: elb.Draining}, status: corev1.ConditionFalse, reason: "draining"},
		"not listed":            {status: corev1.ConditionFalse, reason: "NotListed"},
		"throttled":             {err: fmt.Errorf("x: %w", ownership.ErrGroupThrottled), status: corev1.ConditionFalse, reason: "Throttled"},
		"forbidden":             {err: ownership.ErrGroupForbidden, status: corev1.ConditionFalse, reason: "AccessDenied"},
		"group gone":            {err: ownership.ErrGroupMissing, status: corev1.ConditionTrue, reason: "GroupNotFound"},
		"unreachable":           {err: errors.New("no route"), status: corev1.ConditionFalse, reason: "LoadBalancerUnavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			l := &listing{began: time.Now(), err: c.err, targets: map[ownership.Target]elb.Health{"10.0.0.2:8080": {State: elb.Healthy}}}
			if c.listed != nil {
				l.targets[target] = *c.listed
			}
			v := ofHealth(l, target)
			g.Expect(v.status).To(Equal(c.status))
			g.Expect(v.reason).To(Equal(c.reason))
			g.Expect(v.ask).To(Equal(c.status != corev1.ConditionTrue))
		})
	}
}

// A condition of several bindings is as the one that says least.
func TestBoth(t *testing.T) {
	g := NewWithT(t)
	yes, no, unknown := open("Yes", ""), shut("No", ""), verdict{}
	for _, c := range []struct{ a, b, want verdict }{{yes, yes, yes}, {yes, no, no}, {no, yes, no}, {no, unknown, unknown}, {unknown, yes, unknown}} {
		g.Expect(both(c.a, c.b)).To(Equal(c.want))
	}
	g.Expect(both(yes, verdict{ask: true}).ask).To(BeTrue())
	g.Expect(both(verdict{status: corev1.ConditionFalse, ask: true}, yes).ask).To(BeTrue())
}

// A condition is written if it says something else, and keeps the time since
// when it has been so.
func TestChanged(t *testing.T) {
	g := NewWithT(t)
	gate := Gate(kind.TargetGroupBinding, "web")
	before, now := metav1.NewTime(time.Unix(1000, 0)), time.Unix(2000, 0)
	pod := &corev1.Pod{Spec: corev1.PodSpec{ReadinessGates: []corev1.PodReadinessGate{{ConditionType: gate}}}}
	has := func(c corev1.PodCondition) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.ContainersReady, Status: corev1.ConditionTrue}, c}
	}
	says := func(v verdict) []corev1.PodCondition {
		return changed(pod, map[corev1.PodConditionType]verdict{gate: v}, now)
	}
	g.Expect(says(open("Healthy", ""))).To(BeEmpty(), "its containers are not ready")
	has(corev1.PodCondition{Type: corev1.PodScheduled})
	g.Expect(says(verdict{})).To(BeEmpty(), "nothing is known")
	g.Expect(says(shut("Blocked", "by west"))).To(Equal([]corev1.PodCondition{
		{Type: gate, Status: corev1.ConditionFalse, Reason: "Blocked", Message: "by west", LastTransitionTime: metav1.NewTime(now)},
	}))

	has(corev1.PodCondition{Type: gate, Status: corev1.ConditionFalse, Reason: "Blocked", Message: "by west", LastTransitionTime: before})
	again := shut("Blocked", "by west")
	again.probed = now
	g.Expect(says(again)).To(BeEmpty())
	g.Expect(says(shut("Pending", ""))[0].LastTransitionTime).To(Equal(before))
	g.Expect(says(open("Healthy", ""))[0].LastTransitionTime).To(Equal(metav1.NewTime(now)))

	has(corev1.PodCondition{Type: gate, Status: corev1.ConditionTrue})
	g.Expect(says(shut("Target.Timeout", ""))).To(BeEmpty(), "once True it stays so")
}
