// Package chart tests the Helm chart: what its templates make of values, which
// values it refuses, and that a controller installed by it does its work with
// the permissions it gets, of which none is unused.
package chart

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/kube"
	release "helm.sh/helm/v4/pkg/release/v1"
	"sigs.k8s.io/yaml"
)

const (
	chartDir    = "../../charts/target-ownership-controller"
	releaseName = "target-ownership-controller"
	namespace   = "target-ownership"
)

var update = flag.Bool("update", false, "write what the templates make of testdata/*.values.yaml")

type values = map[string]any

// least are the values that have to be given.
func least() values {
	return values{"clusterID": "east", "image": values{"repository": "registry.example.com/controller"}}
}

func loadChart(t *testing.T) *chartv2.Chart {
	t.Helper()
	c, err := loader.Load(chartDir)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return c
}

// render is `helm template`.
func render(t *testing.T, v values) (*release.Release, error) {
	t.Helper()
	install := action.NewInstall(action.NewConfiguration())
	install.ReleaseName, install.Namespace = releaseName, namespace
	install.DryRunStrategy, install.WaitStrategy = action.DryRunClient, kube.HookOnlyStrategy
	install.KubeVersion = &common.KubeVersion{Version: "v1.37.2-eks-a1b2c3d", Major: "1", Minor: "37"}
	rendered, err := install.Run(loadChart(t), v)
	if err != nil {
		return nil, err
	}
	return rendered.(*release.Release), nil
}

func mustRender(t *testing.T, v values) *release.Release {
	t.Helper()
	r, err := render(t, v)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return r
}

// manifests are those of a release, its hooks last.
func manifests(r *release.Release) string {
	all := r.Manifest
	for _, hook := range r.Hooks {
		all += "---\n# Source: " + hook.Path + "\n" + hook.Manifest + "\n"
	}
	return all
}

// short leaves out CRDs, alerts, and the file that is taken as it is.
func short(t *testing.T, manifest string) string {
	t.Helper()
	manifest = regexp.MustCompile(`(?s)# The alerts of a PrometheusRule\..*?(---\n|$)`).ReplaceAllString(manifest, "# files/alerts.yaml\n$1")
	text, err := os.ReadFile(filepath.Join(chartDir, "files/dashboard.json"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	indented := "    " + strings.ReplaceAll(string(text), "\n", "\n    ")
	manifest = strings.ReplaceAll(manifest, strings.TrimRight(indented, " \n"), "    # files/dashboard.json")
	documents := slices.DeleteFunc(strings.Split(manifest, "---\n"), func(d string) bool {
		return strings.Contains(d, "kind: CustomResourceDefinition\n")
	})
	return strings.Join(documents, "---\n")
}

func valuesFile(t *testing.T, path string) values {
	t.Helper()
	text, err := os.ReadFile(path)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	v := values{}
	NewWithT(t).Expect(yaml.UnmarshalStrict(text, &v)).To(Succeed())
	return v
}

// valuesFiles are the values of testdata, by name.
func valuesFiles(t *testing.T) map[string]values {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.values.yaml")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(paths).NotTo(BeEmpty())
	all := map[string]values{}
	for _, path := range paths {
		all[strings.TrimSuffix(filepath.Base(path), ".values.yaml")] = valuesFile(t, path)
	}
	return all
}

func TestTemplates(t *testing.T) {
	for name, v := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := mustRender(t, v)
			got := short(t, manifests(r)) + "---\n# NOTES\n" + r.Info.Notes
			golden := filepath.Join("testdata", name+".golden.yaml")
			if *update {
				g.Expect(os.WriteFile(golden, []byte(got), 0o644)).To(Succeed())
			}
			want, err := os.ReadFile(golden)
			g.Expect(err).NotTo(HaveOccurred())
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("go test ./chart -update writes %s anew (-want +got):\n%s", golden, diff)
			}
		})
	}
}

func TestLint(t *testing.T) {
	for name, v := range valuesFiles(t) {
		lint := action.NewLint()
		lint.Strict, lint.Namespace = true, namespace
		result := lint.Run([]string{chartDir}, v)
		NewWithT(t).Expect(result.Errors).To(BeEmpty(), name)
	}
}
