package main

import (
	"path/filepath"
	"testing"
)

// Whoever moves a rule learns at once that its mutant has to follow.
func TestEveryMutantHasItsPlace(t *testing.T) {
	for _, m := range mutants {
		if _, err := m.mutate(filepath.Join(root(), m.file)); err != nil {
			t.Errorf("%s: %v", m.rule, err)
		}
	}
}
