package cli

import (
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
)

func (b *bench) state(t *testing.T, id string) ownership.ClusterState {
	entry, err := b.table.Cluster(t.Context(), id)
	b.Expect(err).NotTo(HaveOccurred())
	return entry.State
}

func TestDrain(t *testing.T) {
	for name, c := range map[string]struct {
		stdin string
		line  []string
		code  int
		state ownership.ClusterState
		says  string
	}{
		"confirmed":        {"yes\n", []string{"west"}, exitOK, ownership.ClusterDrained, "cluster west is Drained"},
		"not confirmed":    {"y\n", []string{"west"}, exitFailure, ownership.ClusterActive, "not confirmed"},
		"nobody to ask":    {"", []string{"west"}, exitFailure, ownership.ClusterActive, "give --yes"},
		"--yes":            {"", []string{"west", "--yes"}, exitOK, ownership.ClusterDrained, ""},
		"--dry-run":        {"", []string{"west", "--dry-run", "--yes"}, exitOK, ownership.ClusterActive, "dry run"},
		"below the floor":  {"", []string{"west", "--yes", "--floor", "2"}, exitFailure, ownership.ClusterActive, "blue keeps 1 of 2"},
		"forced":           {"", []string{"west", "--yes", "--floor", "2", "--force"}, exitOK, ownership.ClusterDrained, ""},
		"too long to wait": {"", []string{"west", "--yes", "--wait", "--timeout", "0s"}, exitFailure, ownership.ClusterDrained, "targetctl cluster show west lists what is left"},
		"misspelt":         {"", []string{"wst", "--yes"}, exitFailure, ownership.ClusterActive, "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			code, _, errs := b.answer(c.stdin, append([]string{"cluster", "drain"}, c.line...)...)
			b.Expect(code).To(Equal(c.code), errs)
			b.Expect(errs).To(ContainSubstring(c.says))
			b.Expect(b.state(t, "west")).To(Equal(c.state))
		})
	}
}

func TestUndrain(t *testing.T) {
	b := newBench(t)
	for _, state := range []ownership.ClusterState{ownership.ClusterDrained, ownership.ClusterRetired} {
		b.table.EditCluster("west", func(c *ownership.Cluster) { c.State = state })
		code, _, errs := b.run("cluster", "undrain", "west", "--yes")
		b.Expect(code).To(Equal(exitOK), errs)
		b.Expect(b.state(t, "west")).To(Equal(ownership.ClusterActive))
	}
}

// A state of a newer version means something that this one does not know.
func TestUndrainOfAnUnknownState(t *testing.T) {
	b := newBench(t)
	b.table.EditCluster("west", func(c *ownership.Cluster) { c.State = "Quarantined" })
	code, _, errs := b.run("cluster", "undrain", "west", "--yes")
	b.Expect(code).To(Equal(exitFailure))
	b.Expect(errs).To(ContainSubstring("cluster west is Quarantined"))
}
