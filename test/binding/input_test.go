package binding

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/test/elbsim"
)

const (
	ofNobody  = "arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/nobody/0123456789abcdef"
	ofOthers  = "arn:aws:elasticloadbalancing:us-east-1:210987654321:targetgroup/web/0123456789abcdef"
	elsewhere = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/web/0123456789abcdef"
)

// badInputs are bindings that cannot work, with the words that tell the person
// who wrote them which field it is and what to do.
var badInputs = map[string]struct {
	edit   edit
	reason v1beta1.ConditionReason
	words  []string
}{
	"no such ARN":      {toGroup(ofNobody, ""), v1beta1.ReasonGroupNotFound, []string{"spec.targetGroupARN", ofNobody, "create the group, or delete this binding"}},
	"no such name":     {toGroup("", "nobody"), v1beta1.ReasonGroupNotFound, []string{"spec.targetGroupName", "nobody", "create the group, or delete this binding"}},
	"another region":   {toGroup(elsewhere, ""), v1beta1.ReasonInvalidSpec, []string{"spec.targetGroupARN", "eu-west-1", "with a controller of that region"}},
	"no such service":  {toService("nothing"), v1beta1.ReasonServiceNotFound, []string{"nothing", "create it, or correct serviceRef.name"}},
	"no such port":     {toPort(intstr.FromString("https")), v1beta1.ReasonPortNotFound, []string{`"https"`, "http (80)", "correct serviceRef.port"}},
	"no such number":   {toPort(intstr.FromInt32(443)), v1beta1.ReasonPortNotFound, []string{`"443"`, "http (80)", "correct serviceRef.port"}},
	"port, not target": {toPort(intstr.FromInt32(8080)), v1beta1.ReasonPortNotFound, []string{`"8080"`, "correct serviceRef.port"}},
	"target type": {func(b *v1beta1.TargetGroupBinding) { b.Spec.TargetType = new(v1beta1.TargetTypeInstance) },
		v1beta1.ReasonWrongTargetType, []string{"spec.targetType is instance", "of type ip", "correct or remove the field"}},
	"family": {func(b *v1beta1.TargetGroupBinding) { b.Spec.IPAddressType = new(v1beta1.IPAddressTypeIPv6) },
		v1beta1.ReasonInvalidSpec, []string{"spec.ipAddressType is ipv6", "is ipv4", "correct or remove the field"}},
	"protocol": {func(b *v1beta1.TargetGroupBinding) { b.Spec.TargetGroupProtocol = new(v1beta1.ProtocolUDP) },
		v1beta1.ReasonInvalidSpec, []string{"spec.targetGroupProtocol is UDP", "is TCP"}},
	"VPC": {func(b *v1beta1.TargetGroupBinding) { b.Spec.VpcID = "vpc-0a1b2c3d" },
		v1beta1.ReasonInvalidSpec, []string{"spec.vpcID is vpc-0a1b2c3d", "vpc-0123456789abcdef0"}},
	"nodes of an ip group": {func(b *v1beta1.TargetGroupBinding) { b.Spec.NodeSelector = &metav1.LabelSelector{} },
		v1beta1.ReasonInvalidSpec, []string{"spec.nodeSelector", "remove the field"}},
	"another account": {toGroup(ofOthers, ""), v1beta1.ReasonInvalidSpec, []string{"spec.targetGroupARN", "account 210987654321", "let spec.iamRoleArnToAssume name a role of that account"}},
	"role of another account": {withRole("arn:aws:iam::210987654321:role/r", ""),
		v1beta1.ReasonInvalidSpec, []string{"spec.iamRoleArnToAssume", "210987654321", "name a role of the group's account"}},
	"no such role": {withRole("arn:aws:iam::123456789012:role/r", ""),
		v1beta1.ReasonRoleNotAssumed, []string{"role arn:aws:iam::123456789012:role/r cannot be assumed", "the role has to exist", "sts:AssumeRole"}},
	"short external ID": {withRole("arn:aws:iam::123456789012:role/r", "x"),
		v1beta1.ReasonInvalidSpec, []string{"spec.assumeRoleExternalId", "2 to 1224"}},
}

func TestBadInputIsExplainedAndCanBeDeleted(t *testing.T) {
	for name, test := range badInputs {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.somebodyRegisters("10.9.0.9:8080")
			east := w.cluster("east")
			east.runs("web", "10.0.0.1")
			east.binds("web", test.edit)
			east.reconciles("web")
			east.reconciles("web")
			east.expectReason("web", test.reason, test.words...)
			east.expectEvents("Warning " + string(test.reason) + ": ")

			east.deletes("web")
			east.settles("web")
			east.expectGone("web")
			w.expectGroup("10.9.0.9:8080")
			w.Expect(w.records()).To(BeEmpty())
		})
	}
}

// The CRD of the AWS Load Balancer Controller allows what ours refuses.
func TestCase19ARNsThatOurCRDRefuses(t *testing.T) {
	for name, arn := range map[string]string{"empty": "", "misspelt": "arn:aws:elasticloadbalancing:us-east-1:12345:targetgroup/web", "a name": "web"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			east := w.clusterIn(users, "east")
			east.runs("web", "10.0.0.1")
			east.binds("web", toGroup(arn, ""), withFinalizer)
			east.reconciles("web")
			east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonInvalidSpec, "spec.targetGroupARN", "delete this binding and create one")
			east.deletes("web")
			east.reconciles("web")
			east.expectGone("web")
		})
	}
}

func TestGroupsThatCannotBeBound(t *testing.T) {
	w := newWorld(t, elbsim.Group{TargetType: elbsim.TargetTypeInstance})
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonWrongTargetType, "its type is ClusterIP", "make it NodePort or LoadBalancer")

	service := serviceOf("out", corev1.ServicePort{Name: "http", Port: 80})
	service.Spec.Type, service.Spec.ExternalName = corev1.ServiceTypeExternalName, "example.com"
	east.has(service)
	east.binds("out")
	east.reconciles("out")
	east.expectReady("out", metav1.ConditionFalse, v1beta1.ReasonWrongTargetType, "its type is ExternalName")
}

// A spec that is changed for the worse keeps what is registered.
func TestASpecThatIsBrokenLaterIsExplainedToo(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	east.edits("web", func(b *v1beta1.TargetGroupBinding) { b.Spec.TargetGroupProtocol = new(v1beta1.ProtocolUDP) })
	east.reconciles("web")
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonInvalidSpec, "spec.targetGroupProtocol")
	w.expectGroup("10.0.0.1:8080")

	east.edits("web", func(b *v1beta1.TargetGroupBinding) {
		b.Spec.TargetGroupProtocol, b.Spec.ServiceRef.Port = nil, intstr.FromString("https")
	})
	east.reconciles("web")
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonPortNotFound)
	w.expectGroup("10.0.0.1:8080")

	east.edits("web", toPort(intstr.FromInt32(80)))
	east.reconciles("web")
	east.expectReconciled("web")
	east.expectRemovals(0)
}

func TestNetworkingIsAcceptedAndNotActedOn(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web", func(b *v1beta1.TargetGroupBinding) { b.Spec.Networking = &v1beta1.TargetGroupBindingNetworking{} })
	east.reconciles("web")
	w.expectGroup("10.0.0.1:8080")
	east.expectReady("web", metav1.ConditionTrue, v1beta1.ReasonNetworkingNotManaged, "spec.networking")
}

// A closed gate: nothing is touched, not even for a binding that is deleted,
// and the reason is told.
func TestAClosedGateTouchesNothing(t *testing.T) {
	for name, test := range map[string]struct {
		closed error
		reason v1beta1.ConditionReason
		words  string
	}{
		"case 28: duplicate ID": {&cluster.DuplicateIDError{ID: "east", Ours: "1", Theirs: "2"}, v1beta1.ReasonClusterIDConflict, "choose another --cluster-id"},
		"load balancer controller": {&cluster.LoadBalancerControllerError{Renewing: true}, v1beta1.ReasonLoadBalancerControllerActive,
			"scale its Deployment"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			east := w.cluster("east")
			east.runs("web", "10.0.0.1")
			east.binds("web")
			east.reconciles("web")
			east.gate.closed = test.closed
			east.scales("web", "10.0.0.2")
			east.forget()
			east.reconciles("web")
			east.expectCalls(map[string]int{"PATCH targetgroupbindings/status": 1})
			east.expectReady("web", metav1.ConditionUnknown, test.reason, test.words)
			east.deletes("web")
			east.reconciles("web")
			w.expectGroup("10.0.0.1:8080")

			east.gate.closed = nil
			east.reconciles("web")
			w.expectGroup()
			east.expectGone("web")
		})
	}
}

// A retired cluster takes nothing in. What it still has can be deleted.
func TestARetiredCluster(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	east.gate.closed = &cluster.RetiredError{ID: "east"}
	east.scales("web", "10.0.0.1", "10.0.0.2")
	east.reconciles("web")
	w.expectGroup("10.0.0.1:8080")
	east.expectReady("web", metav1.ConditionUnknown, v1beta1.ReasonClusterRetired, "retired")

	east.deletes("web")
	east.reconciles("web")
	w.expectGroup()
	east.expectGone("web")
	east.expectNoRecord("web")
}

func withFinalizer(b *v1beta1.TargetGroupBinding) { b.Finalizers = []string{v1beta1.Finalizer} }
