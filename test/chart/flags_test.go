package chart

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

// args are the flags of the Deployment, by name.
func args(t *testing.T, v values) map[string]string {
	t.Helper()
	g := NewWithT(t)
	for _, document := range strings.Split(mustRender(t, v).Manifest, "---\n") {
		var d appsv1.Deployment
		if yaml.UnmarshalStrict([]byte(document), &d) != nil || d.Kind != "Deployment" {
			continue
		}
		all := map[string]string{}
		for _, arg := range d.Spec.Template.Spec.Containers[0].Args {
			name, value, found := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
			g.Expect(found).To(BeTrue(), arg)
			all[name] = value
		}
		return all
	}
	t.Fatal("there is no Deployment")
	return nil
}

// flagLine is a line of --help: a name, and the default if there is one.
var flagLine = regexp.MustCompile(`(?m)^ +--([a-z0-9-]+).*?(?:\(default "?\[?(.*?)\]?"?\))?$`)

// Each flag can be set by a value, and what the values say by default is the
// default of the flag.
func TestFlagsAreThoseOfTheController(t *testing.T) {
	g := NewWithT(t)
	help, err := exec.CommandContext(t.Context(), buildController(t), "--help").CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), "%s", help)
	defaults := map[string]string{}
	for _, match := range flagLine.FindAllStringSubmatch(string(help), -1) {
		defaults[match[1]] = match[2]
	}
	delete(defaults, "version")
	g.Expect(defaults).To(HaveKeyWithValue("workers", "10"))

	var settable []string
	for name := range args(t, valuesFile(t, "testdata/full.values.yaml")) {
		settable = append(settable, name)
	}
	var flags []string
	for name := range defaults {
		flags = append(flags, name)
	}
	g.Expect(settable).To(ConsistOf(flags))

	decided := []string{"cluster-id", "leader-election-namespace"} // by the installation
	for name, value := range args(t, least()) {
		if !slices.Contains(decided, name) && (value != "false" || defaults[name] != "") {
			g.Expect(value).To(Equal(defaults[name]), name)
		}
	}
}
