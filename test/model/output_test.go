package model

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// The files are what pan of spin 6.5.2 printed for this model.
func TestParseReadsTheOutputOfPan(t *testing.T) {
	for name, c := range map[string]struct {
		live bool
		want outcome
	}{
		"complete.txt":  {false, outcome{states: 334738}},
		"violation.txt": {false, outcome{states: 6491, violations: 1}},
		"live.txt":      {true, outcome{states: 225166}},
		"cycle.txt":     {true, outcome{states: 356, violations: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := parse(read(t, name), c.live)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(c.want))
		})
	}
}

// A search that found nothing and left states out proves nothing.
func TestParseRefusesASearchThatIsNotComplete(t *testing.T) {
	complete := read(t, "complete.txt")
	cut, _, _ := strings.Cut(complete, "pan: elapsed")
	for name, c := range map[string]struct{ output, want string }{
		"depth":            {read(t, "depth.txt"), "max search depth too small"},
		"memory":           {read(t, "memory.txt"), "Search not completed"},
		"killed":           {"", "Full statespace search"},
		"cut":              {cut, "come to its end"},
		"no count":         {strings.Replace(complete, "states, stored", "states", 1), "count of states"},
		"two runs":         {complete + complete, "2 times"},
		"hashes of states": {complete + "Hash-Compact", "Hash-Compact"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(c.output, false)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.want)))
		})
	}
}

// A search for violations says nothing of cycles, and the other way round.
func TestParseRefusesASearchForSomethingElse(t *testing.T) {
	g := NewWithT(t)
	_, err := parse(read(t, "complete.txt"), true)
	g.Expect(err).To(MatchError(ContainSubstring("never claim")))
	_, err = parse(read(t, "live.txt"), false)
	g.Expect(err).To(MatchError(ContainSubstring("disabled by -DSAFETY")))
	_, err = parse(strings.Replace(read(t, "live.txt"), "(fairness enabled)", "(fairness disabled)", 1), true)
	g.Expect(err).To(MatchError(ContainSubstring("fairness enabled")))
}
