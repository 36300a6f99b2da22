package kube

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestMissingProgramsNameTheCommandToRun(t *testing.T) {
	for _, full := range []bool{false, true} {
		g := NewWithT(t)
		empty := t.TempDir()
		t.Setenv("KUBEBUILDER_ASSETS", "")
		t.Setenv("TOC_BIN", empty)
		t.Setenv("PATH", "") // no setup-envtest

		_, err := Start(t.Context(), Options{Full: full})
		g.Expect(err).To(MatchError(ContainSubstring("make tools")))
		g.Expect(err).To(MatchError(ContainSubstring(empty + "/k8s lacks etcd, kube-apiserver")))
	}
}

func TestProgramsComeFromTheFirstPlaceThatHasThemAll(t *testing.T) {
	assets, own, envtest := t.TempDir(), t.TempDir(), t.TempDir()
	install(t, assets, "etcd", "kube-apiserver")
	install(t, filepath.Join(own, "k8s"), fullPrograms...)
	install(t, own, "kwok")
	for _, stage := range stageFiles {
		install(t, filepath.Join(own, "kwok-stages", filepath.Dir(stage)), filepath.Base(stage))
	}
	install(t, envtest, "etcd", "kube-apiserver")
	script := "#!/bin/sh\n[ \"$*\" = 'use -i -p path' ] && echo " + envtest + "\n"
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, "setup-envtest"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}

	tests := map[string]struct {
		assets, bin string
		full        bool
		want        string
	}{
		"the user's assets are used first":                         {assets: assets, bin: own, want: assets},
		"without the controllers they do not serve a full cluster": {assets: assets, bin: own, full: true, want: filepath.Join(own, "k8s")},
		"without assets the built ones":                            {bin: own, want: filepath.Join(own, "k8s")},
		"without built ones those of envtest":                      {bin: t.TempDir(), want: envtest},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			t.Setenv("KUBEBUILDER_ASSETS", test.assets)
			t.Setenv("TOC_BIN", test.bin)
			t.Setenv("PATH", path)
			found, err := findBinaries(t.Context(), test.full)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(found.dir).To(Equal(test.want))
		})
	}
}

func TestOptionsThatNeedAFullClusterAreRefusedOnALightOne(t *testing.T) {
	tests := map[string]Options{
		"need a full cluster": {PodCIDR: "10.0.0.0/16"},
		"pod CIDR":            {Full: true, PodCIDR: "10.0.0.0/99"},
		`"Not a label"`:       {Name: "Not a label"},
		"-1 nodes":            {Full: true, Nodes: -1},
	}
	for message, options := range tests {
		_, err := Start(t.Context(), options)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(message)))
	}
}

func install(t *testing.T, dir string, programs ...string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, program := range programs {
		if err := os.WriteFile(filepath.Join(dir, program), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
