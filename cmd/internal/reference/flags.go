package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"target-ownership-controller/cmd/targetctl/cli"
)

func flags(root string) (string, error) {
	var b strings.Builder
	b.WriteString("# Flags\n\n## controller\n\n")
	rows, err := controllerFlags(root)
	if err != nil {
		return "", err
	}
	b.WriteString(table("flag", "default", "meaning"))
	b.WriteString(rows)
	b.WriteString("\n## targetctl\n\nThese are flags of all commands; [targetctl.md](../targetctl.md) says what the commands do.\n\n")
	command := cli.Command()
	b.WriteString(table("flag", "default", "meaning"))
	b.WriteString(rowsOf(command.PersistentFlags()))
	commandFlags(&b, command)
	return b.String(), nil
}

func table(columns ...string) string {
	return "| " + strings.Join(columns, " | ") + " |\n|" + strings.Repeat("---|", len(columns)) + "\n"
}

func row(cells ...string) string {
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, "|", "\\|")
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// usage is one line of what --help prints: name, type, meaning, default.
var usage = regexp.MustCompile(`^ +(?:-\w, |    )?--([a-z0-9-]+)(?: ([\w:]+))?   +(.*?)(?: \(default (.*)\))?$`)

// controllerFlags come from --help, since the flags of a command cannot be
// imported.
func controllerFlags(root string) (string, error) {
	help := exec.Command("go", "run", "./cmd/controller", "--help")
	help.Dir = filepath.Clean(root)
	out, err := help.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("controller --help: %w: %s", err, out)
	}
	var b strings.Builder
	for line := range strings.Lines(string(out)) {
		line = strings.TrimRight(line, "\n")
		if !strings.Contains(line, " --") {
			continue
		}
		found := usage.FindStringSubmatch(line)
		if found == nil {
			return "", fmt.Errorf("controller --help: this line is not understood: %q", line)
		}
		name := "--" + found[1]
		if found[2] != "" {
			name += " " + found[2]
		}
		b.WriteString(row(code(name), code(strings.Trim(found[4], `"`)), found[3]))
	}
	if b.Len() == 0 {
		return "", errors.New("controller --help lists no flags")
	}
	return b.String(), nil
}

func rowsOf(set *pflag.FlagSet) string {
	var b strings.Builder
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		kind, meaning := pflag.UnquoteUsage(f)
		name, initial := "--"+f.Name, f.DefValue
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if kind != "" {
			name += " " + kind
		}
		if initial == "false" || initial == "[]" {
			initial = ""
		}
		b.WriteString(row(code(name), code(initial), meaning))
	})
	return b.String()
}

// commandFlags writes a section for each command that has flags of its own.
func commandFlags(b *strings.Builder, c *cobra.Command) {
	for _, sub := range c.Commands() {
		if rows := rowsOf(sub.LocalNonPersistentFlags()); rows != "" {
			fmt.Fprintf(b, "\n### %s\n\n%s.\n\n%s%s", sub.UseLine(), strings.TrimSuffix(sub.Short, "."), table("flag", "default", "meaning"), rows)
		}
		commandFlags(b, sub)
	}
}
