package demo

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestLogLine(t *testing.T) {
	for line, want := range map[string]string{
		`{"level":"info","ts":"2026-12-02T08:04:14Z","msg":"target group changed","controller":"targetgroupbinding","name":"web","registered":4,"deregistered":1}`: "08:04:14 info  target group changed deregistered=1 registered=4",
		"controller: --cluster-id: empty": "controller: --cluster-id: empty",
	} {
		NewWithT(t).Expect(logLine(line)).To(Equal(want))
	}
}
