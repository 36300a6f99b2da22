package cli

import (
	"io"
	"strings"
	"testing"
	"time"

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

// meanwhile is what happens before somebody has typed yes.
type meanwhile func()

func (m meanwhile) Read(p []byte) (int, error) { m(); return copy(p, "yes\n"), io.EOF }

// Of two clusters that are drained at the same time at most one is: each was
// what the other relied on.
func TestTwoDrainsAtOnce(t *testing.T) {
	b := newBench(t)
	code, _, errs := b.reading(meanwhile(func() {
		code, _, errs := b.run("cluster", "drain", "east", "--yes", "--floor", "0")
		b.Expect(code).To(Equal(exitOK), errs)
	}), "cluster", "drain", "west")
	b.Expect(code).To(Equal(exitFailure))
	b.Expect(errs).To(ContainSubstring("blue keeps 0 of 1"))
	b.Expect(b.state(t, "east")).To(Equal(ownership.ClusterDrained))
	b.Expect(b.state(t, "west")).To(Equal(ownership.ClusterActive))
}

// A drain that was waited for says what it leaves, and a script can tell.
func TestDrainLeavesExclusiveGroupsAlone(t *testing.T) {
	b := newBench(t)
	b.table.Wipe()
	b.Expect(b.table.PutCluster(t.Context(), ownership.Cluster{
		ID: "west", Fingerprint: "uid", State: ownership.ClusterActive, Revision: ownership.Revision{Version: 1, WriteID: "w"},
	}, ownership.Revision{})).To(Succeed())
	b.Expect(b.table.Put(t.Context(), ownership.Record{
		Group: arn, Owner: ownership.Owner{Cluster: "west", Namespace: "shop", Name: "web"}, BindingUID: "uid", Exclusive: true,
		Held: map[ownership.Target]time.Time{"10.0.0.1:80": now, "10.0.0.2:80": now}, Revision: ownership.Revision{Version: 1, WriteID: "w"},
	}, ownership.Revision{})).To(Succeed())
	code, _, errs := b.run("cluster", "drain", "west", "--yes", "--wait")
	b.Expect(code).To(Equal(exitFound), errs)
	b.Expect(errs).To(ContainSubstring("2 targets stay, in groups that bindings of cluster west have for themselves"))
}

// What is so already needs no yes, and a drain is waited for all the same.
func TestStatesThatClustersHaveAlready(t *testing.T) {
	for line, c := range map[string]struct {
		state ownership.ClusterState
		code  int
		says  string
	}{
		"undrain west":                       {ownership.ClusterActive, exitOK, "cluster west is Active already\n"},
		"undrain west --dry-run":             {ownership.ClusterActive, exitOK, "dry run: cluster west is Active already\n"},
		"drain west":                         {ownership.ClusterDrained, exitOK, "cluster west is Drained already\n"},
		"drain west --floor 9":               {ownership.ClusterDrained, exitOK, "cluster west is Drained already\n"},
		"drain west --dry-run":               {ownership.ClusterDrained, exitOK, "dry run: cluster west is Drained already\n"},
		"drain west --dry-run --wait":        {ownership.ClusterDrained, exitOK, "dry run: cluster west is Drained already\n"},
		"drain west --wait --timeout 0s":     {ownership.ClusterDrained, exitFailure, "cluster west is Drained already\ntargetctl: wait for the targets of cluster west"},
		"drain west --yes --wait -o json":    {ownership.ClusterRetired, exitFailure, "cluster west is Retired: it can become Drained only if it is"},
		"undrain west --dry-run --yes -o xm": {ownership.ClusterActive, exitUsage, "--output"},
	} {
		t.Run(line, func(t *testing.T) {
			b := newBench(t)
			b.table.EditCluster("west", func(entry *ownership.Cluster) { entry.State = c.state })
			code, out, errs := b.run(append([]string{"cluster"}, strings.Fields(line)...)...)
			b.Expect(code).To(Equal(c.code), errs)
			b.Expect(errs).To(ContainSubstring(c.says))
			b.Expect(errs).NotTo(ContainSubstring("Type yes"))
			b.Expect(out).To(BeEmpty())
			b.Expect(b.state(t, "west")).To(Equal(c.state))
		})
	}
}

// Who is asked, or tries, is told what leaves each group, what stays, and on
// whom the group will rely.
func TestWhatADrainWouldDo(t *testing.T) {
	b := newBench(t)
	_, _, errs := b.run("cluster", "drain", "west", "--dry-run")
	b.Expect(errs).To(Equal("dry run: Cluster west becomes Drained: its targets leave all groups that it shares.\n" +
		"  blue: 2 targets leave, others keep 1 healthy target\n"))
	b.table.EditCluster("west", func(c *ownership.Cluster) { c.HeartbeatAt = now.Add(-90 * time.Second) })
	_, _, errs = b.run("cluster", "drain", "east")
	b.Expect(errs).To(Equal("Cluster east becomes Drained: its targets leave all groups that it shares.\n" +
		"  blue: 2 targets leave, others keep 1 healthy target\n" +
		"warning: west has been silent for 90s by its clock, and its healthy targets are counted on\n" +
		"Type yes to go on: \ntargetctl: " + errNotConfirmed.Error() + "\n"))
	b.table.EditCluster("west", func(c *ownership.Cluster) { c.HeartbeatAt = now.Add(-70 * time.Second) })
	_, _, errs = b.run("cluster", "drain", "east", "--dry-run")
	b.Expect(errs).NotTo(ContainSubstring("warning"))
	b.record(t, "north", []ownership.Target{"10.9.9.9:80"}, nil)
	_, _, errs = b.run("cluster", "drain", "east", "--dry-run")
	b.Expect(errs).To(ContainSubstring("others keep 2 healthy targets\nwarning: north was never heard of"))
}

// What cannot be read refuses a drain, unless it is forced.
func TestForcedDrainOfWhatCannotBeRead(t *testing.T) {
	b := newBench(t)
	b.table.Break(ownership.Key{Group: arn, Owner: ownership.Owner{Cluster: "west", Namespace: "shop", Name: "web"}}, "no mode")
	code, _, errs := b.run("cluster", "drain", "west", "--yes")
	b.Expect(code).To(Equal(exitFailure))
	b.Expect(errs).To(ContainSubstring("no mode"))
	_, _, errs = b.run("cluster", "drain", "west", "--dry-run", "--force")
	b.Expect(errs).To(ContainSubstring("warning: what leaves cannot be read: the record west/shop/web"))
	code, _, errs = b.run("cluster", "drain", "west", "--yes", "--force")
	b.Expect(code).To(Equal(exitOK), errs)
	b.Expect(b.state(t, "west")).To(Equal(ownership.ClusterDrained))
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
