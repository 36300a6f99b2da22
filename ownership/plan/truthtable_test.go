package plan

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"
	"time"

	"target-ownership-controller/ownership"
)

const document = "../../docs/protocol/truth-table.md"

var (
	columns = []string{"#", "want", "entry", "presence", "listed", "lost", "looked", "hold", "release", "unreadable",
		"late", "expired", "leave", "return", "failed", "exclusive", "action", "reason"}

	soon      = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	later     = soon.Add(time.Second)
	errFailed = errors.New("refused")
)

// input is one combination of everything that a decision depends on.
type input struct {
	want, exclusive bool
	state           ownership.State
}

// cells are the input in the words of the document.
func (in input) cells() map[string]string {
	s := in.state
	cells := map[string]string{"entry": s.Entry.String(), "presence": s.Presence.String()}
	for name, yes := range map[string]bool{
		"want": in.want, "exclusive": in.exclusive, "listed": s.Listed, "lost": s.Lost, "looked": s.Looked,
		"hold": s.Others.Hold, "release": s.Others.Release, "unreadable": s.Others.Unreadable,
		"late": s.Late, "expired": s.Expired, "leave": !s.LeaveBy.IsZero(), "return": !s.ReturnBy.IsZero(),
		"failed": s.FailedNow != nil,
	} {
		cells[name] = map[bool]string{true: "yes", false: "no"}[yes]
	}
	return cells
}

// combinations visits every input.
func combinations() iter.Seq[input] {
	return func(yield func(input) bool) {
		for bits := range 1 << 13 {
			bit := func(i int) bool { return bits>>i&1 == 1 }
			s := ownership.State{
				Target: "10.0.0.5:8080", Listed: bit(0), Lost: bit(1), Looked: bit(2),
				Others: ownership.Others{Hold: bit(3), Release: bit(4), Unreadable: bit(5)},
				Late:   bit(6), Expired: bit(7),
			}
			if bit(8) {
				s.LeaveBy = soon
			}
			if bit(9) {
				s.ReturnBy = later
			}
			if bit(10) {
				s.FailedNow = errFailed
			}
			for _, s.Entry = range []ownership.Entry{ownership.Unrecorded, ownership.Held, ownership.Releasing} {
				for _, s.Presence = range []ownership.Presence{ownership.Unknown, ownership.Registered, ownership.Gone} {
					if !yield(input{want: bit(11), exclusive: bit(12), state: s}) {
						return
					}
				}
			}
		}
	}
}

// row is one line of the document.
type row map[string]string

func (r row) matches(cells map[string]string) bool {
	for name, got := range cells {
		want := r[name]
		if not, negated := strings.CutPrefix(want, "not "); negated && not == got || !negated && want != "-" && want != got {
			return false
		}
	}
	return true
}

func readRows(t *testing.T) []row {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| "+strings.Join(columns, " | ")+" |\n")
	if !found {
		t.Fatalf("%s has no table with the columns %v", document, columns)
	}
	var rows []row
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if strings.HasPrefix(line, "|---") {
			continue
		}
		rows = append(rows, parseRow(t, line))
	}
	return rows
}

func parseRow(t *testing.T, line string) row {
	t.Helper()
	cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	if len(cells) != len(columns) {
		t.Fatalf("%d cells, want %d: %s", len(cells), len(columns), line)
	}
	r := row{}
	for i, name := range columns {
		r[name] = strings.TrimSpace(cells[i])
		allowed := map[string]string{
			"entry":    "- unrecorded held releasing",
			"presence": "- unknown registered gone not registered not gone",
		}[name]
		if allowed == "" && i > 0 && i < len(columns)-2 {
			allowed = "- yes no"
		}
		if allowed != "" && !strings.Contains(" "+allowed+" ", " "+r[name]+" ") {
			t.Fatalf("column %s: %q is none of %s: %s", name, r[name], allowed, line)
		}
	}
	return r
}

// Every combination is in exactly one row of the document, and Decide answers
// as the row says. Every row is met.
func TestTruthTable(t *testing.T) {
	rows := readRows(t)
	for i, r := range rows {
		if r["#"] != fmt.Sprint(i+1) {
			t.Fatalf("row %d has the number %s", i+1, r["#"])
		}
	}
	met := make([]int, len(rows))
	for in := range combinations() {
		matching, cells := -1, in.cells()
		for i, r := range rows {
			if !r.matches(cells) {
				continue
			}
			if matching >= 0 {
				t.Fatalf("rows %d and %d both match %+v", matching+1, i+1, in)
			}
			matching = i
		}
		if matching < 0 {
			t.Fatalf("no row matches %+v", in)
		}
		met[matching]++
		r, step := rows[matching], Decide(in.want, in.exclusive, in.state)
		if string(step.Action) != r["action"] || string(step.Reason) != r["reason"] {
			t.Fatalf("row %d says %s: %s, the code %s: %s, for %+v", matching+1, r["action"], r["reason"], step.Action, step.Reason, in)
		}
	}
	for i, n := range met {
		if n == 0 {
			t.Errorf("row %d is never met", i+1)
		}
	}
}
