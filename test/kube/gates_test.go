package kube

import (
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestAPodIsReadyOnceItsGatesAreOpen(t *testing.T) {
	g := NewWithT(t)
	cluster := ForTest(t, Options{Name: "gates", Full: true, Nodes: 1})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: podSpec()}
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/one"}, {ConditionType: "example.com/two"}}
	g.Expect(cluster.Client.Create(t.Context(), pod)).To(Succeed())
	status := func(of corev1.PodConditionType) func() corev1.ConditionStatus {
		return func() corev1.ConditionStatus {
			g.Expect(cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(pod), pod)).To(Succeed())
			for _, c := range pod.Status.Conditions {
				if c.Type == of {
					return c.Status
				}
			}
			return ""
		}
	}
	opens := func(gate string) {
		patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []any{map[string]any{"type": gate, "status": "True"}}}})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(cluster.Client.Status().Patch(t.Context(), pod, client.RawPatch(types.StrategicMergePatchType, patch))).To(Succeed())
	}
	g.Eventually(status(corev1.ContainersReady), patience).Should(Equal(corev1.ConditionTrue))
	g.Expect(pod.Status.PodIP).NotTo(BeEmpty())
	opens("example.com/one")
	g.Consistently(status(corev1.PodReady), time.Second).Should(Equal(corev1.ConditionFalse))
	opens("example.com/two")
	g.Eventually(status(corev1.PodReady), patience).Should(Equal(corev1.ConditionTrue))
}
