package kube

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// gateStages are for Pods with readiness gates.
//
//go:embed gates.yaml
var gateStages string

// readyStage makes a Pod Ready, and its gates True: it is left to other Pods.
const readyStage = "pod-ready.yaml"

// writeStages joins kwok's stage files and ours into one configuration file.
func (c *Cluster) writeStages() (string, error) {
	all := []string{gateStages}
	for _, file := range c.binaries.stages {
		stage, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read a stage of kwok: %w; %s", err, howToInstall)
		}
		if filepath.Base(file) == readyStage {
			if stage, err = withoutGates(stage); err != nil {
				return "", fmt.Errorf("read the stage of kwok %s: %w", file, err)
			}
		}
		all = append(all, string(stage))
	}
	path := c.file("stages.yaml")
	return path, os.WriteFile(path, []byte(strings.Join(all, "\n---\n")), 0o600)
}

// withoutGates has a stage leave Pods with gates alone.
func withoutGates(stage []byte) ([]byte, error) {
	object := map[string]any{}
	if err := yaml.Unmarshal(stage, &object); err != nil {
		return nil, err
	}
	path := []string{"spec", "selector", "matchExpressions"}
	selector, found, err := unstructured.NestedSlice(object, path...)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("there is no %s", strings.Join(path, "."))
	}
	selector = append(selector, map[string]any{"key": ".spec.readinessGates[]?", "operator": "DoesNotExist"})
	if err := unstructured.SetNestedSlice(object, selector, path...); err != nil {
		return nil, err
	}
	return yaml.Marshal(object)
}
