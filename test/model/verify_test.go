package model

import (
	"testing"

	. "github.com/onsi/gomega"
)

// What cannot be built is no mutation that was caught.
func TestAMutationThatDoesNotRunIsNotCaught(t *testing.T) {
	g := NewWithT(t)
	v := verification{spin: "false", model: "ownership.pml", rules: []string{"FENCE"}}
	failed := v.catches(t.Context(), mutation{rule: "a fence", macro: "FENCE", breaks: S1, in: two})
	g.Expect(failed.well).To(BeFalse())
	g.Expect(failed.text).To(HavePrefix("  FAILED    a fence: false: exit status 1"))

	unknown := v.catches(t.Context(), mutation{rule: "a gate", macro: "GATE", breaks: S1, in: two})
	g.Expect(unknown.well).To(BeFalse())
	g.Expect(unknown.text).To(Equal("  FAILED    a gate: the model has no rule GATE"))
}

func TestAConfigurationThatDoesNotRunIsNotSafe(t *testing.T) {
	v := verification{spin: "false", model: "ownership.pml"}
	NewWithT(t).Expect(v.holds(t.Context(), two).well).To(BeFalse())
}
