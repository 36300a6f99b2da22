// mutants takes one rule of the protocol out of the code at a time and runs
// the tests that have to see it: a simulation that cannot fail proves nothing.
// `make mutants` runs it.
//
// A mutant is a file, a piece of it and what stands there instead. It is built
// with go test -overlay, so that the source stays as it is and nothing is
// shipped. A piece that is no longer in its file, or more than once, is a
// failure: the rule has moved, and the mutant has to follow it.
//
// Arguments select mutants by a part of their rule. Exit status: 0 if every
// mutant was caught, else 1.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

func main() {
	chosen := choose(os.Args[1:])
	if out, err := test("", simulation, ""); err != nil {
		fmt.Printf("the simulation fails without any mutant, and so proves nothing:\n%s", out)
		os.Exit(1)
	}
	caught := 0
	for _, m := range chosen {
		begun := time.Now()
		by, err := m.run()
		if err != nil {
			fmt.Printf("  SURVIVED  %s: %v\n", m.rule, err)
			continue
		}
		caught++
		fmt.Printf("  caught    %s: %s (%.0f s)\n", m.rule, by, time.Since(begun).Seconds())
	}
	fmt.Printf("mutants: %d of %d caught\n", caught, len(chosen))
	if caught < len(chosen) || len(chosen) == 0 {
		os.Exit(1)
	}
}

func choose(parts []string) (chosen []mutant) {
	for _, m := range mutants {
		selected := len(parts) == 0
		for _, part := range parts {
			selected = selected || strings.Contains(m.rule, part)
		}
		if selected {
			chosen = append(chosen, m)
		}
	}
	return chosen
}

// run builds the mutant, runs its test and returns what the test found. It is
// an error if the test passes, or if there is no such mutant.
func (m mutant) run() (found string, err error) {
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	overlay, err := m.overlay(dir)
	if err != nil {
		return "", err
	}
	args := m.test
	if args == nil {
		args = simulation
	}
	out, err := test(m.module, args, overlay)
	if err == nil {
		return "", errors.New("no test sees it: go test " + strings.Join(args, " "))
	}
	if !strings.Contains(out, "--- FAIL") {
		return "", fmt.Errorf("the test did not run:\n%s", out)
	}
	return finding(out), nil
}

func test(module string, args []string, overlay string) (out string, err error) {
	cmd := exec.Command("go", append([]string{"test", "-count=1", "-short", "-timeout=5m", "-overlay", overlay}, args...)...)
	cmd.Dir = filepath.Join(root(), module)
	combined, err := cmd.CombinedOutput()
	return string(combined), err
}

// overlay writes the mutated file and what go test wants to know of it.
func (m mutant) overlay(dir string) (string, error) {
	name := filepath.Join(root(), m.file)
	source, err := m.mutate(name)
	if err != nil {
		return "", err
	}
	mutated := filepath.Join(dir, "mutated.go")
	if err := os.WriteFile(mutated, source, 0o600); err != nil {
		return "", err
	}
	content, err := json.Marshal(map[string]map[string]string{"Replace": {name: mutated}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, content, 0o600)
}

func (m mutant) mutate(name string) ([]byte, error) {
	source, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(source, []byte(m.old)); n != 1 {
		return nil, fmt.Errorf("%s has %q %d times, want once: the rule has moved, so change the mutant", m.file, m.old, n)
	}
	return bytes.Replace(source, []byte(m.old), []byte(m.new), 1), nil
}

// finding is the first line that says what went wrong: the broken promise, or
// the test that failed.
func finding(out string) string {
	failed := ""
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		for _, promise := range []string{"S1: ", "S2: ", "S3: ", "L1 "} {
			if strings.HasPrefix(line, promise) {
				return line
			}
		}
		if name, ok := strings.CutPrefix(line, "--- FAIL: "); ok && failed == "" {
			failed = strings.Fields(name)[0]
		}
	}
	return failed
}

// root is the repository that this file was compiled from.
func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}
