package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const install = "../../docs/install/"

// The manifest that people apply grants what controller-gen makes of the
// markers in the code, neither less nor more.
func TestInstalledRules(t *testing.T) {
	g := NewWithT(t)
	generated := rules(g, "../../charts/target-ownership-controller/files/rbac.yaml")
	g.Expect(generated).NotTo(BeEmpty())
	g.Expect(rules(g, install+"controller.yaml")).To(ConsistOf(generated))
}

// rules are those of all roles in a file, one a line.
func rules(g *WithT, path string) []string {
	var lines []string
	for _, document := range documents(g, path) {
		var role rbacv1.Role // a ClusterRole has the same rules
		g.Expect(yaml.Unmarshal(document, &role)).To(Succeed())
		for _, r := range role.Rules {
			line := role.Kind
			for _, list := range [][]string{r.APIGroups, r.Resources, r.ResourceNames, r.Verbs} {
				line += fmt.Sprintf(" %q", slices.Sorted(slices.Values(list)))
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func documents(g *WithT, path string) [][]byte {
	manifest, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(manifest)))
	var all [][]byte
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		g.Expect(err).NotTo(HaveOccurred())
		all = append(all, document)
	}
}

// The arguments of the manifest are flags, and those of a controller that
// starts.
func TestInstalledArguments(t *testing.T) {
	g := NewWithT(t)
	seen := 0
	for _, document := range documents(g, install+"controller.yaml") {
		var deployment appsv1.Deployment
		if yaml.UnmarshalStrict(document, &deployment) != nil || deployment.Kind != "Deployment" {
			continue
		}
		seen++
		var s settings
		container := deployment.Spec.Template.Spec.Containers[0]
		g.Expect(s.flags().Parse(container.Args)).To(Succeed())
		g.Expect(s.validate()).To(Succeed())
		for _, port := range container.Ports {
			g.Expect([]string{s.metricsAddress, s.probeAddress}).To(ContainElement(HaveSuffix(":%d", port.ContainerPort)))
		}
	}
	g.Expect(seen).To(Equal(1))
}

// The policy that people paste allows what the Terraform module allows, which
// test/terraform compares with the code.
func TestInstalledPolicy(t *testing.T) {
	g := NewWithT(t)
	module, err := os.ReadFile("../../terraform/controller-role/permissions.tf")
	g.Expect(err).NotTo(HaveOccurred())
	var wanted []string
	for _, match := range regexp.MustCompile(`"((dynamodb|elasticloadbalancing):[A-Z]\w*)"`).FindAllStringSubmatch(string(module), -1) {
		if match[1] != "dynamodb:LeadingKeys" { // a condition
			wanted = append(wanted, match[1])
		}
	}
	text, err := os.ReadFile(install + "iam-policy.json")
	g.Expect(err).NotTo(HaveOccurred())
	var policy struct{ Statement []struct{ Action oneOrMore } }
	g.Expect(json.Unmarshal(text, &policy)).To(Succeed())
	var allowed []string
	for _, statement := range policy.Statement {
		allowed = append(allowed, statement.Action...)
	}
	g.Expect(allowed).To(ConsistOf(wanted))
}

// oneOrMore is a list in a policy, which may be a string.
type oneOrMore []string

func (l *oneOrMore) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*l = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(l))
}
