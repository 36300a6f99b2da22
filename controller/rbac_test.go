package controller_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

const chartFiles = "../charts/target-ownership-controller/files"

// The chart installs the rules that the markers in the code ask for.
func TestTheRolesAreUpToDate(t *testing.T) {
	g := NewWithT(t)
	if _, err := os.Stat("../bin/controller-gen"); err != nil {
		t.Skipf("no controller-gen, so the roles are NOT compared with the markers: run `make generate`: %v", err)
	}
	source, err := os.ReadFile("controller.go")
	g.Expect(err).NotTo(HaveOccurred())
	fresh := t.TempDir()
	for _, command := range regexp.MustCompile(`(?m)^//go:generate (.*rbac:.*)$`).FindAllSubmatch(source, -1) {
		words := strings.Fields(strings.Replace(string(command[1]), chartFiles, fresh, 1))
		out, err := exec.CommandContext(t.Context(), words[0], words[1:]...).CombinedOutput()
		g.Expect(err).NotTo(HaveOccurred(), "%s", out)
	}
	written, err := filepath.Glob(filepath.Join(fresh, "*"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(written).To(HaveLen(4))
	for _, file := range written {
		want, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		got, err := os.ReadFile(filepath.Join(chartFiles, filepath.Base(file)))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(got)).To(Equal(string(want)), "run `make generate` and commit what it wrote")
	}
}
