package binding

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/test/elbsim"
)

// manifests have the fields of every sample in the documentation of the AWS Load
// Balancer Controller
// (https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/targetgroupbinding/targetgroupbinding/).
// ARN, NAME, VPC and NODES stand for what a user fills in.
var manifests = map[string]struct {
	spec   string
	group  elbsim.Group
	others []string // that nobody recorded, and that stay
	reason v1beta1.ConditionReason
}{
	"by name": {
		spec:   `{serviceRef: {name: web, port: 80}, targetGroupName: NAME}`,
		reason: v1beta1.ReasonReconciled,
	},
	"by ARN": {
		spec:   `{serviceRef: {name: web, port: 80}, targetGroupARN: ARN}`,
		reason: v1beta1.ReasonReconciled,
	},
	"with the VPC": {
		spec:   `{serviceRef: {name: web, port: 80}, targetGroupARN: ARN, vpcID: VPC}`,
		reason: v1beta1.ReasonReconciled,
	},
	"shared": {
		spec:   `{serviceRef: {name: web, port: 80}, targetGroupARN: ARN, multiClusterTargetGroup: true}`,
		others: []string{"10.9.0.9:8080"},
		reason: v1beta1.ReasonReconciled,
	},
	"with the target type and a port by name": {
		spec:   `{serviceRef: {name: web, port: http}, targetGroupARN: ARN, targetType: ip, ipAddressType: ipv4}`,
		reason: v1beta1.ReasonReconciled,
	},
	"with nodes": {
		spec:   `{serviceRef: {name: web, port: 80}, targetGroupARN: ARN, nodeSelector: {matchLabels: {site: NODES}}}`,
		group:  elbsim.Group{TargetType: elbsim.TargetTypeInstance},
		reason: v1beta1.ReasonReconciled,
	},
	"in another account, with rules": {
		spec: `{assumeRoleExternalId: of-east, iamRoleArnToAssume: "` + otherRole + `", targetGroupARN: ARN, serviceRef: {name: web, port: 80},
			networking: {ingress: [{from: [{securityGroup: {groupID: sg-0123456789abcdef0}}], ports: [{port: 80, protocol: TCP}]}]}}`,
		reason: v1beta1.ReasonNetworkingNotManaged,
	},
}

func TestManifestsOfTheLoadBalancerControllerWorkAsTheyAre(t *testing.T) {
	for name, test := range manifests {
		t.Run(name, func(t *testing.T) {
			w := worldOf(t, test.spec, test.group)
			if len(test.others) > 0 {
				w.somebodyRegisters(test.others...)
			}
			east := w.cluster("east")
			want := append(at8080("10.0.0.1", "10.0.0.2"), test.others...)
			if test.group.TargetType == elbsim.TargetTypeInstance {
				east.runsOnNodePort("web", 0)
				east.node("i-0a")
				east.node("i-0b")
				want = at(int(east.service("web").Spec.Ports[0].NodePort), "i-0a", "i-0b")
			} else {
				east.runs("web", "10.0.0.1", "10.0.0.2")
			}

			east.has(east.manifest("web", test.spec))
			for range 3 {
				east.reconciles("web")
			}
			w.expectGroup(want...)
			east.expectReady("web", metav1.ConditionTrue, test.reason)

			east.deletes("web")
			east.settles("web")
			w.expectGroup(test.others...)
			east.expectGone("web")
		})
	}
}

// worldOf has the group where the manifest says.
func worldOf(t *testing.T, spec string, group elbsim.Group) *world {
	if !strings.Contains(spec, otherRole) {
		return newWorld(t, group)
	}
	w, _ := newAbroad(t)
	return w
}

// manifest is a TargetGroupBinding as kubectl sends it.
func (s *site) manifest(name, spec string) client.Object {
	s.t.Helper()
	spec = strings.NewReplacer("ARN,", s.group.ARN+",", "ARN}", s.group.ARN+"}", "NAME}", s.group.Name+"}", "VPC}", s.group.VPCID+"}", "NODES}", s.namespace+"}").Replace(spec)
	o := &unstructured.Unstructured{}
	s.Expect(yaml.Unmarshal([]byte("{apiVersion: elbv2.k8s.aws/v1beta1, kind: TargetGroupBinding, metadata: {name: "+name+"}, spec: "+spec+"}"), &o.Object)).To(Succeed())
	return o
}
