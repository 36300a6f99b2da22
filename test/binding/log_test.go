package binding

import (
	"testing"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// The log has one line for each decision, with its reason, and none for a pass
// that decided nothing.
func TestTheLogHasEachDecision(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	var lines []string
	logger := funcr.NewJSON(func(line string) { lines = append(lines, line) }, funcr.Options{})
	pass := func() []string {
		lines = nil
		_, err := east.try(log.IntoContext(t.Context(), logger), east.key("web"))
		w.Expect(err).NotTo(HaveOccurred())
		return lines
	}
	east.runs("web", "10.0.0.1")
	east.binds("web")
	w.Expect(pass()).To(ConsistOf(
		ContainSubstring(`"msg":"targets claimed"`),
		And(ContainSubstring(`"msg":"targets registered"`), ContainSubstring(`"targets":["10.0.0.1:8080"]`), ContainSubstring(`"reason":"not confirmed`)),
	))
	w.Expect(pass()).To(BeEmpty())
	east.scales("web")
	w.Expect(pass()).To(ConsistOf(
		And(ContainSubstring(`"msg":"targets releasing"`), ContainSubstring(`"reason":"the endpoint is gone"`)),
		ContainSubstring(`"msg":"targets deregistered"`),
		ContainSubstring(`"msg":"targets released"`),
	))
}
