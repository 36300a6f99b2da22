package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"

	"target-ownership-controller/cmd/targetctl/cli"
)

var assignment = regexp.MustCompile(`^[A-Z_]+=`)

// Each command that a page tells people to type has to exist as it is typed.
func TestCommandsOfPages(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root(), "Makefile"))
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	commands := map[string]int{}
	for name, p := range pages(t) {
		for _, line := range p.code() {
			words := command(line)
			if len(words) == 0 {
				continue
			}
			var wrong error
			switch words[0] {
			case "make":
				wrong = checkMake(string(makefile), words[1:])
			case "bin/targetctl", "targetctl":
				wrong = checkTargetctl(words[1:])
			default:
				continue
			}
			commands[name]++
			if wrong != nil {
				t.Errorf("%s: %s: %v", name, line, wrong)
			}
		}
	}
	g.Expect(commands["docs/getting-started.md"]).To(BeNumerically(">", 10))
}

// command are the words of a line without variables before it, comments and
// what it is piped to.
func command(line string) []string {
	var words []string
	for _, word := range strings.Fields(line) {
		if strings.HasPrefix(word, "#") || word == "|" || word == "\\" || word == "&&" {
			break
		}
		if len(words) == 0 && assignment.MatchString(word) {
			continue
		}
		words = append(words, strings.Trim(word, `"'`))
	}
	return words
}

func checkMake(makefile string, words []string) error {
	for _, word := range words {
		if assignment.MatchString(word) {
			continue
		}
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(word) + `:`).MatchString(makefile) {
			return fmt.Errorf("there is no target %s in the Makefile", word)
		}
	}
	return nil
}

func checkTargetctl(words []string) error {
	found, rest, err := cli.Command().Find(words)
	if err != nil {
		return err
	}
	if !found.Runnable() {
		return fmt.Errorf("%s needs a command", found.CommandPath())
	}
	found.InheritedFlags() // has the flags of its parents parsed too
	if err := found.ParseFlags(rest); err != nil {
		return err
	}
	var missing error
	found.Flags().VisitAll(func(f *pflag.Flag) {
		if _, required := f.Annotations["cobra_annotation_bash_completion_one_required_flag"]; required && !f.Changed {
			missing = fmt.Errorf("--%s is missing", f.Name)
		}
	})
	if missing != nil {
		return missing
	}
	if found.Args == nil {
		return nil
	}
	return found.Args(found, found.Flags().Args())
}
