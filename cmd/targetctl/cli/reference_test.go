package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"

	"target-ownership-controller/cmd/targetctl/doctor"
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

// The page has every check of doctor, and no other.
func TestReferenceOfChecks(t *testing.T) {
	g := NewWithT(t)
	named := regexp.MustCompile(`(?m)^\tCheck\w+ +(?:admin\.)?Check += "(\w+)"`)
	var checks []string
	for _, dir := range []string{"../doctor", "../../../ownership/admin"} {
		files, err := filepath.Glob(dir + "/*.go")
		g.Expect(err).NotTo(HaveOccurred())
		for _, file := range files {
			source, err := os.ReadFile(file)
			g.Expect(err).NotTo(HaveOccurred())
			for _, match := range named.FindAllSubmatch(source, -1) {
				checks = append(checks, string(match[1]))
			}
		}
	}
	var all []string
	for _, check := range doctor.Checks() {
		all = append(all, string(check))
	}
	g.Expect(all).To(ConsistOf(checks))
	page, err := os.ReadFile("../../../docs/targetctl.md")
	g.Expect(err).NotTo(HaveOccurred())
	_, section, found := strings.Cut(string(page), "| check | what is wrong |")
	g.Expect(found).To(BeTrue())
	section, _, _ = strings.Cut(section, "\n\n")
	var documented []string
	for _, row := range strings.Split(section, "\n") {
		cell, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
		for _, name := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(cell, -1) {
			documented = append(documented, name[1])
		}
	}
	g.Expect(documented).To(ConsistOf(checks))
}
