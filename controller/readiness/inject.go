package readiness

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gomodules.xyz/jsonpatch/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"target-ownership-controller/controller/kind"
)

// Injector gives new Pods the gates of the bindings that select them. It works
// in every replica, leader or not.
type Injector struct {
	Reader  client.Reader
	Kinds   []kind.Kind
	Decoder admission.Decoder
}

// listTimeout bounds the wait for a cache that is not filled yet. The Pod waits.
const listTimeout = 3 * time.Second

// Handle implements admission.Handler. A Pod is let in also when its gates cannot
// be found: a missing gate does less harm than a missing Pod.
func (i *Injector) Handle(ctx context.Context, req admission.Request) admission.Response {
	var pod corev1.Pod
	err := i.Decoder.DecodeRaw(req.Object, &pod)
	var wanted []corev1.PodConditionType
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, listTimeout)
		defer cancel()
		wanted, err = i.gates(ctx, req.Namespace, pod.Labels)
	}
	if err != nil {
		log.FromContext(ctx).Error(err, "a pod gets no readiness gates", "pod", pod.Name, "generateName", pod.GenerateName)
		return admission.Allowed("").WithWarnings(fmt.Sprintf("the Pod gets no readiness gates for its targets: %v", err))
	}
	gates := pod.Spec.ReadinessGates
	for _, t := range wanted {
		if gate := (corev1.PodReadinessGate{ConditionType: t}); !slices.Contains(gates, gate) {
			gates = append(gates, gate)
		}
	}
	if len(gates) == len(pod.Spec.ReadinessGates) {
		return admission.Allowed("")
	}
	// Only this field is written: the Pod may have others that this version does
	// not know.
	return admission.Patched("", jsonpatch.NewOperation("add", "/spec/readinessGates", gates))
}

func (i *Injector) gates(ctx context.Context, namespace string, pod map[string]string) ([]corev1.PodConditionType, error) {
	bindings, err := bindingsOf(ctx, i.Reader, i.Kinds, namespace)
	if err != nil || len(bindings) == 0 {
		return nil, err
	}
	var services corev1.ServiceList
	if err := i.Reader.List(ctx, &services, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	return Gates(pod, bindings, services.Items), nil
}
