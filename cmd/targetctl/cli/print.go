package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/yaml"

	"target-ownership-controller/ownership/admin"
)

// print writes the answer in the format that was asked for. Scripts get all
// of it, people what human writes.
func (a *app) print(answer any, human func(io.Writer)) error {
	var text []byte
	var err error
	switch a.output {
	case "json":
		text, err = json.MarshalIndent(answer, "", "  ")
		text = append(text, '\n')
	case "yaml":
		text, err = yaml.Marshal(answer)
	default:
		human(a.Out)
		return nil
	}
	if err != nil {
		return fmt.Errorf("write the answer as %s: %w", a.output, err)
	}
	_, err = a.Out.Write(text)
	return err
}

// grid writes rows in columns that line up; the first row is their heading.
func (a *app) grid(w io.Writer, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(a.paint(cell))
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+3))
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// The colours of words that call for attention, as SGR parameters
// (ECMA-48, 8.3.117).
var colours = map[string]string{
	"healthy": "32", "Active": "32",
	"initial": "33", "draining": "33", "Drained": "33", "releasing": "33",
	"unhealthy": "31", "unavailable": "31", "not registered": "31", "Retired": "31",
	"ERROR": "31", "WARNING": "33",
}

// paint colours a word on a terminal, unless NO_COLOR is set
// (https://no-color.org).
func (a *app) paint(word string) string {
	colour, has := colours[word]
	file, isFile := a.Out.(*os.File)
	if !has || !isFile || os.Getenv("NO_COLOR") != "" || !term.IsTerminal(int(file.Fd())) {
		return word
	}
	return "\x1b[" + colour + "m" + word + "\x1b[0m"
}

// age is how long ago t was, by this machine's clock and that of whoever wrote
// it.
func (a *app) age(t *time.Time) string { return age(a.now(), t) }

func age(now time.Time, t *time.Time) string {
	if t == nil || t.IsZero() {
		return "-"
	}
	return duration.HumanDuration(max(0, now.Sub(*t)))
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// counted is a number of things with a verb: 1 target stays, 2 targets stay.
func counted(n int, things, verb string) string {
	if n == 1 {
		verb += "s"
	}
	return admin.Count(n, things) + " " + verb
}
