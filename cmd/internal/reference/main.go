// Command reference writes the pages of docs/reference from the code: flags
// from the flag sets, metrics from their descriptions, conditions and events
// from the constants.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run . ../../..

const header = "<!-- Written by make generate. Change the code, not this page. -->\n\n"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "reference: give the directory of the project")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// pages are the pages by their paths, each with what writes it.
var pages = map[string]func(root string) (string, error){
	"docs/reference/flags.md":      flags,
	"docs/reference/metrics.md":    metricsPage,
	"docs/reference/conditions.md": conditions,
}

func write(root string) error {
	for name, page := range pages {
		text, err := page(root)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(header+text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
