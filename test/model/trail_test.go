package model

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestStoryIsWhatTheModelSays(t *testing.T) {
	g := NewWithT(t)
	lines := story(read(t, "violation-replay.txt"))
	g.Expect(lines).To(Equal([]string{
		"A is succeeded",
		"a, exclusive, takes what nobody recorded: releasing",
		"A starts and writes the record that it finds: releasing",
		"A reads the record of B: none",
		"A may deregister",
		"a claims back: held",
		"A finds its record written by another process",
		"a reads the record of B: none",
		"a may register",
		"the registration of a lands",
		"a late deregistration of A lands",
		"S1 is broken: the owner itself holds the target again",
	}))
	g.Expect(broken(lines, false)).To(Equal(S1))
}

func TestStoryOfACycleBreaksL1(t *testing.T) {
	g := NewWithT(t)
	lines := story(read(t, "cycle-replay.txt"))
	g.Expect(lines).To(ContainElement("from now on nothing goes wrong, nobody wants it"))
	g.Expect(lines[len(lines)-1]).To(Equal("from here on the same again and again:"))
	g.Expect(broken(lines, true)).To(Equal(L1))
}

// An assertion that the model does not explain is no promise.
func TestAStoryWithoutAPromiseIsAnError(t *testing.T) {
	_, err := broken([]string{"A claims: held"}, false)
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("breaks no promise")))
}
