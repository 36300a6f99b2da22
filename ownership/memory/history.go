package memory

import (
	"context"
	"iter"
	"slices"
	"strings"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
)

// Record implements [history.Store].
func (t *Table) Record(ctx context.Context, e history.Entry) error {
	e = e.Bound()
	return t.write(ctx, Op{Kind: AddHistory, Group: e.Group, Cluster: e.Cluster}, func() error {
		t.rows.history = append(slices.DeleteFunc(slices.Clone(t.rows.history), func(old history.Entry) bool {
			return old.Group == e.Group && compareEntries(old, e) == 0
		}), e)
		return nil
	})
}

// History implements [history.Reader].
func (t *Table) History(ctx context.Context, q history.Query) iter.Seq2[history.Entry, error] {
	return func(yield func(history.Entry, error) bool) {
		entries, err := t.entries(ctx, q.Group)
		if err != nil {
			yield(history.Entry{}, err)
			return
		}
		left := q.Limit
		for _, e := range entries {
			if e.Time.Before(q.Since) {
				return
			}
			if q.Target != "" && !e.Concerns(q.Target) {
				continue
			}
			if left--; !yield(e, nil) || left == 0 {
				return
			}
		}
	}
}

// entries are those of the group, the newest first.
func (t *Table) entries(ctx context.Context, group ownership.GroupARN) ([]history.Entry, error) {
	var out []history.Entry
	err := t.read(ctx, Op{Kind: History, Group: group}, func() error {
		for _, e := range t.rows.history {
			if e.Group == group {
				out = append(out, e)
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b history.Entry) int { return compareEntries(b, a) })
	return out, err
}

func compareEntries(a, b history.Entry) int {
	if c := a.Time.Compare(b.Time); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}
