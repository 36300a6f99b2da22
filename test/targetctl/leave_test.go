package targetctl_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
)

// What a cluster had that is gone leaves the group, in as long as its last
// calls may have been under way. What others hold stays.
func TestClustersThatAreGone(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than a minute: the time in which calls of a cluster that is gone may land")
	}
	b := start(t)
	b.cluster(t.Context(), "east", "10.0.0.1:80", "10.0.0.2:80")
	b.cluster(t.Context(), "west", "10.0.0.2:80", "10.0.0.3:80")
	b.cluster(t.Context(), "north", "10.0.0.4:80")
	b.sim.ClearJournal()

	var both sync.WaitGroup
	for _, line := range [][]string{
		{"cluster", "retire", "west", "--yes", "--force"},
		{"release", "--cluster", "north", "--group", "blue", "--yes", "--force"},
	} {
		both.Go(func() {
			code, _, errs := b.try(t.Context(), line...)
			if code != 0 {
				t.Errorf("%v: exit code %d: %s", line, code, errs)
			}
		})
	}
	both.Wait()

	health, err := b.health(t.Context())
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(health).To(And(HaveKey("10.0.0.1:80"), HaveKey("10.0.0.2:80"), HaveKeyWithValue("10.0.0.3:80", "draining"), HaveKeyWithValue("10.0.0.4:80", "draining")))
	b.Expect(health).NotTo(HaveKeyWithValue("10.0.0.2:80", "draining"))
	var out []string
	for _, entry := range b.sim.Journal() {
		if entry.Action == "DeregisterTargets" {
			out = append(out, entry.Targets...)
		}
	}
	slices.Sort(out)
	b.Expect(slices.Compact(out)).To(Equal([]string{"10.0.0.3:80", "10.0.0.4:80"}), "what was asked to leave")

	read, err := b.store.Records(t.Context(), b.group)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(read.Records).To(HaveLen(1))
	b.Expect(read.Records[0].Owner.Cluster).To(Equal("east"))
	b.Expect(b.state(t, "west")).To(Equal(ownership.ClusterRetired))
	b.Expect(b.state(t, "north")).To(Equal(ownership.ClusterActive))
	b.run(t.Context(), "cluster", "undrain", "west", "--yes")
	b.Expect(b.state(t, "west")).To(Equal(ownership.ClusterActive))
}

// What would be done is told, and nothing is done.
func TestDryRunsOfLeaving(t *testing.T) {
	b := start(t)
	b.cluster(t.Context(), "west", "10.0.0.3:80")
	before := b.items(t)
	b.sim.ClearJournal()
	for _, line := range [][]string{{"cluster", "retire", "west", "--dry-run"}, {"release", "--cluster", "west", "--dry-run"}} {
		code, _, errs := b.try(t.Context(), line...)
		b.Expect(code).To(BeZero())
		b.Expect(errs).To(HavePrefix("dry run: The targets of cluster west that are not healthy leave their groups"))
	}
	b.Expect(b.items(t)).To(Equal(before))
	b.Expect(b.sim.Journal()).To(BeEmpty())
}

// A cluster that was never there is misspelt, whichever way it is to leave.
func TestLeavingOfNobody(t *testing.T) {
	b := start(t)
	for _, line := range [][]string{{"cluster", "retire", "wst", "--yes"}, {"release", "--cluster", "wst", "--yes"}} {
		code, _, errs := b.try(t.Context(), line...)
		b.Expect(code).To(Equal(1))
		b.Expect(errs).To(ContainSubstring(`cluster wst: ` + ownership.ErrNotFound.Error()))
		b.Expect(errs).To(ContainSubstring(`table "` + b.name))
	}
}

// What cannot be right is told with its flag.
func TestErrorsNameTheFlag(t *testing.T) {
	b := start(t)
	for flag, want := range map[string]string{
		"--table=nosuch":                          "--table nosuch and --region say which table it is",
		"--region=europe":                         "--region: \"europe\" is not an AWS region",
		"--dynamodb-endpoint=http://nosuch.test/": "--region may be misspelt",
	} {
		code, _, errs := b.try(t.Context(), "clusters", flag)
		b.Expect(code).NotTo(BeZero())
		b.Expect(errs).To(ContainSubstring(want))
	}
}

// What AWS calls the trouble is told once, though the description of the table
// is refused alike.
func TestMissingTableIsToldOnce(t *testing.T) {
	b := start(t)
	_, _, errs := b.try(t.Context(), "clusters", "--table", "nosuch")
	b.Expect(strings.Count(errs, "ResourceNotFoundException: ")).To(Equal(1), errs)
}
