package webhook

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/kind"
)

// Groups finds the target group that a new binding means.
type Groups interface {
	Describe(context.Context, *v1beta1.TargetGroupBinding) (elb.Group, error)
}

// lookupTimeout bounds the call to AWS, which somebody waits for.
const lookupTimeout = 3 * time.Second

// defaults fill in what a binding does not say of its group. That is known when
// a binding is made; what an update leaves out is as it was, since it cannot be
// changed.
type defaults struct {
	kind    kind.Kind
	groups  Groups
	decoder admission.Decoder
}

// Handle implements admission.Handler.
func (d *defaults) Handle(ctx context.Context, req admission.Request) admission.Response {
	b, err := d.decode(req.Object)
	if err != nil {
		return admission.Allowed("") // the schema refuses it next, and says it better
	}
	if req.Operation == admissionv1.Update {
		before, err := d.decode(req.OldObject)
		if err != nil {
			return admission.Allowed("") // nothing to keep is known
		}
		return admission.Patched("", fill(b.Spec, before.Spec)...)
	}
	if complete(b.Spec) {
		return admission.Allowed("")
	}
	b.Namespace = req.Namespace
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	group, err := d.groups.Describe(ctx, b)
	if err != nil {
		log.FromContext(ctx).Info("defaults not filled in", "error", err.Error())
		return admission.Allowed("").WithWarnings(fmt.Sprintf("defaults are not filled in, and not needed: %v", err))
	}
	return admission.Patched("", fill(b.Spec, specOf(group))...)
}

func (d *defaults) decode(raw runtime.RawExtension) (*v1beta1.TargetGroupBinding, error) {
	o := d.kind.New()
	if err := d.decoder.DecodeRaw(raw, o); err != nil {
		return nil, err
	}
	return d.kind.Binding(o), nil
}

func complete(s v1beta1.TargetGroupBindingSpec) bool {
	return s.TargetType != nil && s.IPAddressType != nil && s.VpcID != ""
}

// vpcID are the IDs that the schema of a binding takes.
var vpcID = regexp.MustCompile(`^vpc-([0-9a-f]{8}|[0-9a-f]{17}|[0-9a-f]{32})$`)

// specOf is what a binding may say of its group. What the schema does not take is
// left out: a default that is refused would stand in the way of the binding.
func specOf(g elb.Group) v1beta1.TargetGroupBindingSpec {
	var spec v1beta1.TargetGroupBindingSpec
	if vpcID.MatchString(g.VPCID) {
		spec.VpcID = g.VPCID
	}
	switch t := v1beta1.TargetType(g.TargetType); t {
	case v1beta1.TargetTypeIP, v1beta1.TargetTypeInstance:
		spec.TargetType = &t
	}
	switch f := v1beta1.IPAddressType(g.IPAddressType); f {
	case v1beta1.IPAddressTypeIPv4, v1beta1.IPAddressTypeIPv6:
		spec.IPAddressType = &f
	}
	return spec
}

// fill adds the fields that a spec lacks. The object is not written anew: it may
// have fields that this version does not know.
func fill(spec, from v1beta1.TargetGroupBindingSpec) []jsonpatch.Operation {
	if spec.ServiceRef.Name == "" {
		return nil // there may be no spec to add to, and the schema refuses it
	}
	var added []jsonpatch.Operation
	add := func(missing bool, field string, value any) {
		if missing {
			added = append(added, jsonpatch.NewOperation("add", "/spec/"+field, value))
		}
	}
	add(spec.TargetType == nil && from.TargetType != nil && !excludes(spec, *from.TargetType), "targetType", from.TargetType)
	add(spec.IPAddressType == nil && from.IPAddressType != nil, "ipAddressType", from.IPAddressType)
	add(spec.VpcID == "" && from.VpcID != "", "vpcID", from.VpcID)
	return added
}

// excludes reports whether the schema refuses a target type beside another field
// of the spec. The condition of the binding says so in better words.
func excludes(spec v1beta1.TargetGroupBindingSpec, t v1beta1.TargetType) bool {
	if t == v1beta1.TargetTypeIP {
		return spec.NodeSelector != nil
	}
	quic := spec.TargetGroupProtocol != nil && slices.Contains([]v1beta1.Protocol{v1beta1.ProtocolQUIC, v1beta1.ProtocolTCPQUIC}, *spec.TargetGroupProtocol)
	return spec.IamRoleArnToAssume != "" || quic
}
