package soak

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestHealthyLog(t *testing.T) {
	const fine = `{"level":"info","ts":"2026-01-01T12:00:00Z","msg":"target group changed","registered":3}` + "\n"
	for _, c := range []struct{ name, log, problem string }{
		{"info", fine + fine, ""},
		{"an error", fine + `{"level":"error","msg":"heartbeat failed"}`, "line 2 of the log is above info"},
		{"a warning", `{"level":"warn","msg":"hm"}`, "above info"},
		{"a target", fine + `{"level":"info","msg":"registered","target":"10.1.0.4:8080"}`, "line 2 of the log is about one target"},
		{"a panic", "panic: oh", "is not JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			lines, err := healthyLog([]byte(c.log))
			if c.problem == "" {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(lines).To(Equal(2))
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(c.problem)))
			}
		})
	}
}

func TestShortLines(t *testing.T) {
	g := NewWithT(t)
	g.Expect(shortLines([]string{
		`{"level":"info","ts":"12:00","msg":"target group changed","controller":"c","name":"web","registered":3}`, "panic: oh",
	})).To(Equal([]string{"12:00 info target group changed name=web registered=3", "panic: oh"}))
}
