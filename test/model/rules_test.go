package model

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

var modelDir = filepath.Join("..", "..", "docs", "protocol", "model")

// Whoever adds a rule to the model says what it is for.
func TestEveryRuleIsTakenAway(t *testing.T) {
	g := NewWithT(t)
	inModel, err := rules(modelDir)
	g.Expect(err).NotTo(HaveOccurred())
	known := append([]string{}, unneeded...)
	for _, m := range mutations {
		known = append(known, m.macro)
	}
	g.Expect(inModel).To(ConsistOf(known))
}

func TestARuleThatNothingUsesIsAnError(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(dir, rulesFile), []byte("#ifndef FENCE\n#define FENCE 1\n#endif\n"), 0o600)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(dir, "table.pml"), []byte("if :: FENCES -> skip fi\n"), 0o600)).To(Succeed())
	_, err := rules(dir)
	g.Expect(err).To(MatchError(ContainSubstring("rule FENCE")))
}
