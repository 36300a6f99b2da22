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
		"late", "expired", "leave", "return", "failed", "refused", "exclusive", "action", "reason"}

	soon      = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	later     = soon.Add(time.Second)
	errFailed = errors.New("refused")
)

// input is one combination of everything that a decision depends on.
type input struct {
	want, exclusive bool
	state           ownership.State
}

// cells are the input in the words of the document, in the order of its
// columns.
func (in input) cells() []string {
	s := in.state
	return []string{
		yes(in.want), s.Entry.String(), s.Presence.String(), yes(s.Listed), yes(s.Lost), yes(s.Looked),
		yes(s.Others.Hold), yes(s.Others.Release), yes(s.Others.Unreadable), yes(s.Late), yes(s.Expired),
		yes(!s.LeaveBy.IsZero()), yes(!s.ReturnBy.IsZero()), failure(s.FailedNow), refusal(s), yes(in.exclusive),
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func failure(err error) string {
	switch {
	case err == nil:
		return "no"
	case errors.Is(err, errFailed):
		return "yes"
	default:
		return "for good"
	}
}

func refusal(s ownership.State) string {
	switch {
	case s.Refused == nil:
		return "no"
	case s.RetryAt.IsZero():
		return "before"
	default:
		return "lately"
	}
}

// combinations visits every input.
func combinations() iter.Seq[input] {
	return func(yield func(input) bool) {
		for bits := range 1 << 12 {
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
			for _, s.Entry = range []ownership.Entry{ownership.Unrecorded, ownership.Held, ownership.Releasing} {
				for _, s.Presence = range []ownership.Presence{ownership.Unknown, ownership.Registered, ownership.Gone} {
					for _, s.FailedNow = range []error{nil, errFailed, ownership.ErrInvalidTarget, ownership.ErrGroupFull} {
						for refused := range 3 {
							s.Refused, s.RetryAt = nil, time.Time{}
							if refused > 0 {
								s.Refused = errFailed
							}
							if refused > 1 {
								s.RetryAt = later
							}
							if !yield(input{want: bit(10), exclusive: bit(11), state: s}) {
								return
							}
						}
					}
				}
			}
		}
	}
}

// row is one line of the document: its number, a cell for each column of the
// input, the action and the reason.
type row []string

func (r row) action() string { return r[len(r)-2] }
func (r row) reason() string { return r[len(r)-1] }

func (r row) matches(cells []string) bool {
	for i, got := range cells {
		want := r[i+1]
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
	r := make(row, len(columns))
	for i, name := range columns {
		r[i] = strings.TrimSpace(cells[i])
		allowed := map[string]string{
			"entry":    "- unrecorded held releasing",
			"presence": "- unknown registered gone not registered not gone",
			"failed":   "- yes no not no for good",
			"refused":  "- no before lately not lately",
		}[name]
		if allowed == "" && i > 0 && i < len(columns)-2 {
			allowed = "- yes no"
		}
		if allowed != "" && !strings.Contains(" "+allowed+" ", " "+r[i]+" ") {
			t.Fatalf("column %s: %q is none of %s: %s", name, r[i], allowed, line)
		}
	}
	return r
}

// Every combination is in exactly one row of the document, and Decide answers
// as the row says. Every row is met.
func TestTruthTable(t *testing.T) {
	rows := readRows(t)
	for i, r := range rows {
		if r[0] != fmt.Sprint(i+1) {
			t.Fatalf("row %d has the number %s", i+1, r[0])
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
		if string(step.Action) != r.action() || string(step.Reason) != r.reason() {
			t.Fatalf("row %d says %s: %s, the code %s: %s, for %+v", matching+1, r.action(), r.reason(), step.Action, step.Reason, in)
		}
	}
	for i, n := range met {
		if n == 0 {
			t.Errorf("row %d is never met", i+1)
		}
	}
}
