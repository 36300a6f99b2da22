package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"target-ownership-controller/ownership"
)

// A script gets what would be done in the format that it asked for, and
// nothing else.
func TestDryRunsForScripts(t *testing.T) {
	for line, want := range map[string]intent{
		"cluster drain west": {
			Does:    "Cluster west becomes Drained: its targets leave all groups that it shares.",
			Cluster: "west", State: ownership.ClusterDrained,
			Groups: []groupIntent{{TargetGroup: arn, Targets: 2, Healthy: new(1)}},
		},
		"cluster retire west": {
			Does:    "The targets of cluster west that are not healthy leave their groups, where no other owner holds them. The cluster becomes Retired.",
			Cluster: "west", State: ownership.ClusterRetired, Groups: []groupIntent{{TargetGroup: arn, Targets: 2}},
		},
		"release --cluster west --group blue --force": {
			Does:    "The targets of cluster west leave target group blue, where no other owner holds them.",
			Cluster: "west", Groups: []groupIntent{{TargetGroup: arn, Targets: 2}},
		},
		"table create --table other": {Does: "Table other is created.", Table: "other"},
		"table create":               {Does: "table target-ownership is there already, and as it has to be", Table: "target-ownership"},
		"cluster undrain west":       {Does: "cluster west is Active already", Cluster: "west", State: ownership.ClusterActive},
	} {
		t.Run(line, func(t *testing.T) {
			b := newBench(t)
			for format, read := range map[string]func([]byte, *intent) error{
				"json": func(text []byte, i *intent) error { return json.Unmarshal(text, i) },
				"yaml": func(text []byte, i *intent) error { return yaml.UnmarshalStrict(text, i) },
			} {
				code, out, errs := b.run(append(strings.Fields(line), "--dry-run", "-o", format)...)
				b.Expect(code).To(Equal(exitOK), errs)
				b.Expect(errs).To(BeEmpty())
				var got intent
				b.Expect(read([]byte(out), &got)).To(Succeed(), out)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// What is said after the prompt begins a line, whoever answered.
func TestLineAfterThePrompt(t *testing.T) {
	b := newBench(t)
	_, _, errs := b.answer("yes\n", "cluster", "drain", "west")
	b.Expect(errs).To(HaveSuffix("Type yes to go on: \ncluster west is Drained\n"))
	read, write, err := os.Pipe()
	b.Expect(err).NotTo(HaveOccurred())
	defer read.Close()
	b.Expect(write.Close()).To(Succeed())
	_, _, errs = b.reading(read, "cluster", "undrain", "west")
	b.Expect(errs).To(HaveSuffix("Type yes to go on: \ntargetctl: " + errNotConfirmed.Error() + "\n"))
}
