package kube

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

const howToInstall = "run `make tools` in the repository root, or point KUBEBUILDER_ASSETS at a folder that has them"

var (
	lightPrograms = []string{"etcd", "kube-apiserver"}
	fullPrograms  = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"}
)

// stageFiles make kwok play a kubelet that is ready at once and then sends
// heartbeats. They are from kwok's own module, under kustomize/stage.
var stageFiles = []string{
	"node/fast/node-initialize.yaml",
	"node/heartbeat/node-heartbeat.yaml",
	"pod/fast/pod-ready.yaml",
	"pod/fast/pod-complete.yaml",
	"pod/fast/pod-delete.yaml",
}

// binaries are the files that a cluster runs on.
type binaries struct {
	dir    string   // etcd and the Kubernetes programs, of one version
	kwok   string   // full clusters only
	stages []string // full clusters only
}

func (b binaries) program(name string) string { return filepath.Join(b.dir, name) }

// findBinaries takes all Kubernetes programs from one place, since a
// controller manager must not be newer than its API server: the first of
// $KUBEBUILDER_ASSETS, bin/k8s of this repository, and what setup-envtest
// has installed, that has them all.
func findBinaries(ctx context.Context, full bool) (binaries, error) {
	wanted := lightPrograms
	if full {
		wanted = fullPrograms
	}
	dir, err := findDir(wanted, programDirs(ctx))
	if err != nil {
		return binaries{}, err
	}
	found := binaries{dir: dir}
	if !full {
		return found, nil
	}
	found.kwok = filepath.Join(binDir(), "kwok")
	for _, file := range stageFiles {
		found.stages = append(found.stages, filepath.Join(binDir(), "kwok-stages", file))
	}
	for _, file := range append([]string{found.kwok}, found.stages...) {
		if _, err := os.Stat(file); err != nil {
			return binaries{}, fmt.Errorf("kwok is not installed: %w; %s", err, howToInstall)
		}
	}
	return found, nil
}

// programDirs yields the folders in the order of preference.
func programDirs(ctx context.Context) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" && !yield(assets) {
			return
		}
		if !yield(filepath.Join(binDir(), "k8s")) {
			return
		}
		// -i: only what is installed, nothing is downloaded.
		out, err := exec.CommandContext(ctx, "setup-envtest", "use", "-i", "-p", "path").Output()
		if err == nil {
			yield(strings.TrimSpace(string(out)))
		}
	}
}

func findDir(programs []string, dirs func(yield func(string) bool)) (string, error) {
	var problems []error
	for dir := range dirs {
		missing := missingFrom(dir, programs)
		if len(missing) == 0 {
			return dir, nil
		}
		problems = append(problems, fmt.Errorf("%s lacks %s", dir, strings.Join(missing, ", ")))
	}
	return "", fmt.Errorf("no Kubernetes programs for the tests: %w; %s", errors.Join(problems...), howToInstall)
}

func missingFrom(dir string, programs []string) []string {
	var missing []string
	for _, program := range programs {
		if info, err := os.Stat(filepath.Join(dir, program)); err != nil || info.Mode()&0o111 == 0 {
			missing = append(missing, program)
		}
	}
	return missing
}

// binDir is where `make tools` puts programs: $TOC_BIN if set, else bin/ of
// the repository that this file was compiled from.
func binDir() string {
	if dir := os.Getenv("TOC_BIN"); dir != "" {
		return dir
	}
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "bin")
}
