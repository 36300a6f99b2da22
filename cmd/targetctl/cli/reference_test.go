package cli

import (
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"
)

// The page names every command that does something.
func TestReference(t *testing.T) {
	g := NewWithT(t)
	page, err := os.ReadFile("../../../docs/targetctl.md")
	g.Expect(err).NotTo(HaveOccurred())
	documented := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			visit(sub)
		}
		if !c.HasParent() || c.HasSubCommands() {
			return
		}
		documented++
		g.Expect(string(page)).To(ContainSubstring("| `" + strings.TrimPrefix(c.CommandPath(), "targetctl ")))
	}
	visit((&app{}).root("v1", "targetctl"))
	g.Expect(documented).To(BeNumerically(">=", 8))
}
