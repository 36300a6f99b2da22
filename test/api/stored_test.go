package api_test

import (
	"context"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/test/kube"
)

// A cluster goes through what a user's may have been through: objects stored
// in v1alpha1, a CRD that stores v1beta1 and knows nothing of our status, and
// then ours. Each step needs what the one before has stored.
func TestStoredObjects(t *testing.T) {
	g := NewWithT(t)
	cluster, err := kube.Start(t.Context(), kube.Options{
		Name: "users", Scheme: newScheme(), CRDs: []*apiextensionsv1.CustomResourceDefinition{usersCRD("v1alpha1")},
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(cluster.Stop()).To(Succeed()) })
	users := user{t: t, client: cluster.Client}

	users.create("oldest", "v1alpha1", "{targetGroupARN: "+arnBlue+", targetType: instance, nodeSelector: {matchLabels: {a: b}}, "+serviceRef+"}")
	users.replaceCRD(usersCRD("v1beta1"))
	users.create("plain", "v1beta1", "{targetGroupARN: "+arnBlue+", "+serviceRef+"}")
	users.create("broken", "v1beta1", "{targetGroupARN: tg-1, targetGroupName: green, targetType: ip, nodeSelector: {}, vpcID: main, serviceRef: {name: '', port: 0}}")

	t.Run("status beyond the users' CRD is dropped", users.statusIsPruned)

	ours := readCRD(g, crdFile)
	t.Run("a CRD without v1alpha1 is refused", func(t *testing.T) { users.v1alpha1MustBeListed(t, ours) })
	users.replaceCRD(ours)
	users.waitForRules()

	t.Run("v1alpha1 objects are read in v1beta1", users.oldestIsWhole)
	t.Run("v1alpha1 is not served", users.v1alpha1IsNotServed)
	t.Run("a broken object can be mended step by step", users.brokenCanBeMended)
	t.Run("a broken object takes finalizer and status, and can go", users.brokenCanGo)
}

// usersCRD is a CRD with the fields in testdata, that stores one version.
func usersCRD(storage string) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "targetgroupbindings.elbv2.k8s.aws"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: v1beta1.GroupVersion.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Kind: "TargetGroupBinding", ListKind: "TargetGroupBindingList",
				Plural: "targetgroupbindings", Singular: "targetgroupbinding",
			},
		},
	}
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: version, Served: true, Storage: version == storage,
			Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: usersFacts().schema()},
			Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
		})
	}
	return crd
}

// user acts in a cluster as its owner would.
type user struct {
	t      *testing.T
	client client.Client
}

func (u user) create(name, version, spec string) {
	g := NewWithT(u.t)
	object := binding(g, spec)
	object.SetAPIVersion(v1beta1.GroupVersion.Group + "/" + version)
	object.SetGenerateName("")
	object.SetName(name)
	g.Expect(u.client.Create(u.t.Context(), object)).To(Succeed())
}

func (u user) replaceCRD(next *apiextensionsv1.CustomResourceDefinition) {
	g := NewWithT(u.t)
	ctx := u.t.Context()
	current := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: next.Name}}
	g.Expect(u.client.Get(ctx, client.ObjectKeyFromObject(next), current)).To(Succeed())
	current.Spec = next.Spec
	g.Expect(u.client.Update(ctx, current)).To(Succeed())
}

// waitForRules returns when the API server works by a CRD with rules: it goes
// over to a new CRD some time after it has accepted it.
func (u user) waitForRules() {
	g := NewWithT(u.t)
	g.Eventually(func() error {
		return u.client.Create(u.t.Context(), binding(g, "{targetGroupName: 'not a name', "+serviceRef+"}"), client.DryRunAll)
	}).WithTimeout(time.Minute).Should(MatchError(ContainSubstring("must be the name of a target group")))
}

func (u user) get(t *testing.T, name string) *v1beta1.TargetGroupBinding {
	g := NewWithT(t)
	object := &v1beta1.TargetGroupBinding{}
	g.Expect(u.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, object)).To(Succeed())
	return object
}

// patchStatus writes every field of our status.
func (u user) patchStatus(ctx context.Context, object *v1beta1.TargetGroupBinding) error {
	before := object.DeepCopy()
	object.Status.ObservedGeneration = object.Generation
	object.Status.TargetGroupARN = arnBlue
	object.Status.Targets = &v1beta1.TargetCounts{Held: 7, Pending: 1}
	meta.SetStatusCondition(&object.Status.Conditions, metav1.Condition{
		Type: string(v1beta1.ConditionReady), Status: metav1.ConditionFalse, ObservedGeneration: object.Generation,
		Reason: string(v1beta1.ReasonGroupFull), Message: "1 of 7 targets waits",
	})
	return u.client.Status().Patch(ctx, object, client.MergeFrom(before))
}

func (u user) statusIsPruned(t *testing.T) {
	g := NewWithT(t)
	g.Expect(u.patchStatus(t.Context(), u.get(t, "plain"))).To(Succeed())
	got := u.get(t, "plain").Status
	g.Expect(got.ObservedGeneration).To(BeEquivalentTo(1))
	g.Expect(got.Conditions).To(HaveLen(1))
	g.Expect(got.Conditions[0].Message).To(Equal("1 of 7 targets waits"))
	g.Expect(got.Targets).To(BeNil())
	g.Expect(got.TargetGroupARN).To(BeEmpty())
}

func (u user) v1alpha1MustBeListed(t *testing.T, ours *apiextensionsv1.CustomResourceDefinition) {
	g := NewWithT(t)
	current := &apiextensionsv1.CustomResourceDefinition{}
	g.Expect(u.client.Get(t.Context(), client.ObjectKeyFromObject(ours), current)).To(Succeed())
	g.Expect(current.Status.StoredVersions).To(ConsistOf("v1alpha1", "v1beta1"))
	current.Spec.Versions = slices.DeleteFunc(slices.Clone(ours.Spec.Versions), func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == "v1alpha1"
	})
	err := u.client.Update(t.Context(), current)
	g.Expect(err).To(MatchError(ContainSubstring("v1alpha1 was previously a storage version")))
}

func (u user) oldestIsWhole(t *testing.T) {
	g := NewWithT(t)
	object := u.get(t, "oldest")
	g.Expect(object.Spec.TargetGroupARN).To(Equal(arnBlue))
	g.Expect(*object.Spec.TargetType).To(Equal(v1beta1.TargetTypeInstance))
	g.Expect(object.Spec.NodeSelector.MatchLabels).To(HaveKeyWithValue("a", "b"))
	g.Expect(object.Spec.ServiceRef.Port.IntValue()).To(Equal(80))

	g.Expect(u.patchStatus(t.Context(), object)).To(Succeed())
	status := u.get(t, "oldest").Status
	g.Expect(status.Targets.Held).To(BeEquivalentTo(7))
	g.Expect(status.TargetGroupARN).To(Equal(arnBlue))
}

func (u user) v1alpha1IsNotServed(t *testing.T) {
	g := NewWithT(t)
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("elbv2.k8s.aws/v1alpha1")
	object.SetKind("TargetGroupBinding")
	err := u.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "oldest"}, object)
	g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
}

func (u user) brokenCanBeMended(t *testing.T) {
	g := NewWithT(t)
	ctx := t.Context()
	change := func(patch string) error {
		return u.client.Patch(ctx, u.get(t, "broken"), client.RawPatch("application/merge-patch+json", []byte(patch)))
	}
	g.Expect(change(`{"spec":{"serviceRef":{"port":80}}}`)).To(MatchError(ContainSubstring("needs targetType instance")),
		"a change to the spec must mend the rules on the whole spec")
	g.Expect(change(`{"spec":{"nodeSelector":null,"targetGroupName":null,"serviceRef":{"port":80}}}`)).To(Succeed(),
		"the ARN, the VPC and the name of the Service are as broken as before, and unchanged")
	g.Expect(change(`{"spec":{"targetGroupARN":"` + arnBlue + `"}}`)).To(MatchError(ContainSubstring("cannot be changed")))
}

func (u user) brokenCanGo(t *testing.T) {
	g := NewWithT(t)
	ctx := t.Context()
	object := u.get(t, "broken")
	before := object.DeepCopy()
	controllerutil.AddFinalizer(object, v1beta1.Finalizer)
	g.Expect(u.client.Patch(ctx, object, client.MergeFrom(before))).To(Succeed())
	g.Expect(u.patchStatus(ctx, object)).To(Succeed())
	g.Expect(u.client.Delete(ctx, object)).To(Succeed())

	object = u.get(t, "broken")
	g.Expect(object.DeletionTimestamp).NotTo(BeNil(), "the finalizer holds it")
	before = object.DeepCopy()
	controllerutil.RemoveFinalizer(object, v1beta1.Finalizer)
	g.Expect(u.client.Patch(ctx, object, client.MergeFrom(before))).To(Succeed())
	err := u.client.Get(ctx, client.ObjectKeyFromObject(object), object)
	g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
}
