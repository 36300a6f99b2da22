package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const install = "../../docs/install/"

// The manifest that people apply grants what the markers in the code say,
// neither less nor more.
func TestInstalledRules(t *testing.T) {
	g := NewWithT(t)
	wanted := map[string][]string{} // by namespace
	for _, marker := range markers(g) {
		wanted[marker["namespace"]] = append(wanted[marker["namespace"]],
			rule(parts(marker["groups"]), parts(marker["resources"]), parts(marker["resourceNames"]), parts(marker["verbs"])))
	}
	var cluster, own []string
	for _, document := range documents(g) {
		var role rbacv1.Role // a ClusterRole has the same rules
		g.Expect(yaml.Unmarshal(document, &role)).To(Succeed())
		for _, r := range role.Rules {
			line := rule(r.APIGroups, r.Resources, r.ResourceNames, r.Verbs)
			if role.Kind == "ClusterRole" {
				cluster = append(cluster, line)
			} else {
				own = append(own, line)
			}
		}
	}
	g.Expect(cluster).To(ConsistOf(wanted[""]))
	g.Expect(own).To(ConsistOf(wanted["system"]))
}

// markers are the comments from which controller-gen makes roles.
func markers(g *WithT) []map[string]string {
	marked := regexp.MustCompile(`(?m)^// \+kubebuilder:rbac:(.*)$`)
	var found []map[string]string
	for _, root := range []string{"../../controller", "."} {
		g.Expect(filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			source, err := os.ReadFile(path)
			for _, match := range marked.FindAllStringSubmatch(string(source), -1) {
				marker := map[string]string{}
				for _, setting := range strings.Split(match[1], ",") {
					key, value, _ := strings.Cut(setting, "=")
					marker[key] = strings.Trim(value, `"`)
				}
				found = append(found, marker)
			}
			return err
		})).To(Succeed())
	}
	return found
}

func parts(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ";")
}

// rule is in one order: what is not named is the core group, and every name.
func rule(groups, resources, names, verbs []string) string {
	var lists []string
	for _, list := range [][]string{slices.DeleteFunc(slices.Clone(groups), func(s string) bool { return s == "" }), resources, names, verbs} {
		lists = append(lists, strings.Join(slices.Sorted(slices.Values(list)), ","))
	}
	return strings.Join(lists, " | ")
}

func documents(g *WithT) [][]byte {
	manifest, err := os.ReadFile(install + "controller.yaml")
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
	for _, document := range documents(g) {
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
