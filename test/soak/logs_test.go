package soak

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestHealthyLog(t *testing.T) {
	const fine = `{"level":"info","ts":"2026-01-01T12:00:00Z","msg":"starting"}` + "\n"
	const decision = `{"level":"info","msg":"targets claimed","reason":"the endpoint is live","reconcileID":"1","targets":["10.1.0.4:8080"],"others":[]}` + "\n"
	const inAnotherPass = `{"level":"info","msg":"targets claimed","reason":"the endpoint is live","reconcileID":"2","targets":["10.1.0.5:8080"],"others":[]}` + "\n"
	for _, c := range []struct{ name, log, problem string }{
		{"info", fine + fine, ""},
		{"a decision in each of two passes", decision + inAnotherPass, ""},
		{"a line for each target", decision + strings.Replace(decision, "0.4", "0.5", 1), "line 2 of the log is about a decision that a line before it has"},
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
		`{"level":"info","ts":"12:00","msg":"targets claimed","controller":"c","name":"web","count":3}`, "panic: oh",
	})).To(Equal([]string{"12:00 info targets claimed name=web count=3", "panic: oh"}))
}
