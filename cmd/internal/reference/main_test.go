package main

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// What the pages say of flags, metrics and conditions is what the code says.
func TestThePagesAreUpToDate(t *testing.T) {
	const root = "../../.."
	for name, page := range pages {
		t.Run(filepath.Base(name), func(t *testing.T) {
			g := NewWithT(t)
			text, err := page(root)
			g.Expect(err).NotTo(HaveOccurred())
			written, err := os.ReadFile(filepath.Join(root, name))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(written)).To(Equal(header+text), "run make generate and commit what it wrote")
		})
	}
}
