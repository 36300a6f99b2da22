package model

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// A rule is a macro with the value 1 in rules.pml.
var ruleMacro = regexp.MustCompile(`(?m)^#ifndef (\w+).*\n#define (\w+) 1$`)

const rulesFile = "rules.pml"

// notRules are bounds of a run that happen to be 1.
var notRules = []string{"BINDINGS_OF_A", "TROUBLES"}

// rules returns the names of the rules that the model in dir lets go of, and
// that its other files use.
func rules(dir string) ([]string, error) {
	source, err := os.ReadFile(filepath.Join(dir, rulesFile))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range ruleMacro.FindAllStringSubmatch(string(source), -1) {
		if m[1] != m[2] {
			return nil, fmt.Errorf("%s: %s stands where %s is asked for", rulesFile, m[2], m[1])
		}
		if !slices.Contains(notRules, m[1]) {
			names = append(names, m[1])
		}
	}
	return names, used(dir, names)
}

// used is an error if a rule is in no file of the model, so that to take it
// away would change nothing.
func used(dir string, names []string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.pml"))
	if err != nil {
		return err
	}
	var all []byte
	for _, file := range files {
		if filepath.Base(file) == rulesFile {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		all = append(all, source...)
	}
	for _, name := range names {
		if !regexp.MustCompile(`\b` + name + `\b`).Match(all) {
			return fmt.Errorf("rule %s is in %s and nowhere else", name, rulesFile)
		}
	}
	return nil
}
