package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// What docs/troubleshooting.md quotes of a start that fails is what the code
// says. "..." stands for what differs.
func TestQuotedMessages(t *testing.T) {
	g := NewWithT(t)
	page, err := os.ReadFile("../../docs/troubleshooting.md")
	g.Expect(err).NotTo(HaveOccurred())
	_, section, found := strings.Cut(string(page), "## It does not start")
	g.Expect(found).To(BeTrue())
	section, _, found = strings.Cut(section, "\n## ")
	g.Expect(found).To(BeTrue())
	said := source(g)
	quoted := 0
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|").FindAllStringSubmatch(section, -1) {
		for _, quote := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(row[1], -1) {
			for _, part := range strings.Split(quote[1], "...") {
				quoted++
				g.Expect(said).To(ContainSubstring(strings.TrimSpace(part)))
			}
		}
	}
	g.Expect(quoted).To(BeNumerically(">", 10))
}

// source is the code of this package, of the one that reads the AWS
// configuration for it, and of pflag's messages that it passes on.
func source(g *WithT) string {
	said := "unknown flag"
	files, err := filepath.Glob("*.go")
	g.Expect(err).NotTo(HaveOccurred())
	configuration, err := filepath.Glob("../internal/awsconfig/*.go")
	g.Expect(err).NotTo(HaveOccurred())
	for _, file := range append(files, configuration...) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		said += string(text)
	}
	return said
}
