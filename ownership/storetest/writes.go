package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
)

func createIfAbsent(t *testing.T, h Harness) {
	rec := record(blue, owner("a"))
	create(t, h.Store, rec)

	second := record(blue, owner("a"))
	second.WriteID = "write-of-another"
	expectConflict(t, h.Store.Put(t.Context(), second, ownership.Revision{}))
	expectRecords(t, h.Store, blue, rec)
}

func versionedPut(t *testing.T, h Harness) {
	absent, _ := after(record(blue, owner("a")), "write-2")
	expectConflict(t, h.Store.Put(t.Context(), absent, ownership.Revision{Version: 1, WriteID: "write-1"}))
	expectRecords(t, h.Store, blue)

	first := record(blue, owner("a"))
	create(t, h.Store, first)
	second, seen := after(first, "write-2")
	second.Held["[2001:db8::5]:8080"] = noon
	delete(second.Releasing, "10.0.0.6:8080")
	NewWithT(t).Expect(h.Store.Put(t.Context(), second, seen)).To(Succeed())
	expectRecords(t, h.Store, blue, second)

	stale, seen := after(first, "write-3")
	expectConflict(t, h.Store.Put(t.Context(), stale, seen))
	expectRecords(t, h.Store, blue, second)
}

func versionedDelete(t *testing.T, h Harness) {
	first := record(blue, owner("a"))
	expectConflict(t, h.Store.Delete(t.Context(), first))

	create(t, h.Store, first)
	second, seen := after(first, "write-2")
	NewWithT(t).Expect(h.Store.Put(t.Context(), second, seen)).To(Succeed())
	expectConflict(t, h.Store.Delete(t.Context(), first))
	never := record(blue, owner("a"))
	never.Revision = ownership.Revision{} // not read and not written
	expectConflict(t, h.Store.Delete(t.Context(), never))
	expectRecords(t, h.Store, blue, second)

	NewWithT(t).Expect(h.Store.Delete(t.Context(), second)).To(Succeed())
	expectConflict(t, h.Store.Delete(t.Context(), never))
	expectRecords(t, h.Store, blue)
	expectConflict(t, h.Store.Delete(t.Context(), second))
}

func aba(t *testing.T, h Harness) {
	old := record(blue, owner("a"))
	create(t, h.Store, old)
	NewWithT(t).Expect(h.Store.Delete(t.Context(), old)).To(Succeed())
	anew := record(blue, owner("a"))
	anew.WriteID = "write-after-delete"
	create(t, h.Store, anew)

	next, seen := after(old, "write-2")
	expectConflict(t, h.Store.Put(t.Context(), next, seen))
	expectConflict(t, h.Store.Delete(t.Context(), old))
	expectRecords(t, h.Store, blue, anew)
}

func race(t *testing.T, h Harness) {
	const writers = 8
	compete := func(write func(writeID string) error) string {
		t.Helper()
		var wg sync.WaitGroup
		errs := make([]error, writers)
		for i := range writers {
			wg.Go(func() { errs[i] = write(fmt.Sprint("writer-", i)) })
		}
		wg.Wait()
		winner := ""
		for i, err := range errs {
			switch {
			case err == nil && winner == "":
				winner = fmt.Sprint("writer-", i)
			case err == nil:
				t.Errorf("both %s and writer-%d won", winner, i)
			case !errors.Is(err, ownership.ErrConflict):
				t.Errorf("writer-%d: %v", i, err)
			}
		}
		return winner
	}

	rec := record(blue, owner("a"))
	rec.WriteID = compete(func(id string) error {
		mine := rec.Clone()
		mine.WriteID = id
		return h.Store.Put(t.Context(), mine, ownership.Revision{})
	})
	expectRecords(t, h.Store, blue, rec)

	second, seen := after(rec, "")
	second.WriteID = compete(func(id string) error {
		mine := second.Clone()
		mine.WriteID = id + "-again"
		return h.Store.Put(t.Context(), mine, seen)
	}) + "-again"
	expectRecords(t, h.Store, blue, second)

	if compete(func(string) error { return h.Store.Delete(t.Context(), second) }) == "" {
		t.Error("nobody deleted the record")
	}
	expectRecords(t, h.Store, blue)
}

func badRevision(t *testing.T, h Harness) {
	for name, rev := range map[string]ownership.Revision{
		"version not raised":  {Version: 0, WriteID: "write-1"},
		"version skipped":     {Version: 2, WriteID: "write-1"},
		"write ID left empty": {Version: 1},
	} {
		rec := record(blue, owner("a"))
		rec.Revision = rev
		NewWithT(t).Expect(h.Store.Put(t.Context(), rec, ownership.Revision{})).NotTo(Succeed(), name)
		entry := cluster("a")
		entry.Revision = rev
		NewWithT(t).Expect(h.Registry.PutCluster(t.Context(), entry, ownership.Revision{})).NotTo(Succeed(), name)
	}
	expectRecords(t, h.Store, blue)
}

func tooLarge(t *testing.T, h Harness) {
	first := record(blue, owner("a"))
	create(t, h.Store, first)
	next, seen := after(first, "write-2")
	for i := range 20_000 {
		next.Held[target(t, fmt.Sprintf("2001:db8::1:%x", i+1))] = noon
	}
	NewWithT(t).Expect(h.Store.Put(t.Context(), next, seen)).To(MatchError(ownership.ErrTooLarge))
	expectRecords(t, h.Store, blue, first)
}

func cancelled(t *testing.T, h Harness) {
	g := NewWithT(t)
	rec := record(blue, owner("a"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	_, err := h.Store.Records(ctx, blue)
	g.Expect(err).To(And(MatchError(context.Canceled), MatchError(ownership.ErrUnavailable)))
	_, err = h.Store.Groups(ctx, "a")
	g.Expect(err).To(MatchError(context.Canceled))
	_, err = h.Registry.Cluster(ctx, "a")
	g.Expect(err).To(And(MatchError(context.Canceled), Not(MatchError(ownership.ErrNotFound))))
	_, err = h.Registry.Clusters(ctx)
	g.Expect(err).To(MatchError(context.Canceled))
	g.Expect(h.Store.Put(ctx, rec, ownership.Revision{})).To(MatchError(context.Canceled))
	g.Expect(h.Registry.PutCluster(ctx, cluster("a"), ownership.Revision{})).To(MatchError(context.Canceled))
	expectRecords(t, h.Store, blue)

	create(t, h.Store, rec)
	g.Expect(h.Store.Delete(ctx, rec)).To(MatchError(context.Canceled))
	expectRecords(t, h.Store, blue, rec)
}

func target(t testing.TB, id string) ownership.Target {
	t.Helper()
	tg, err := ownership.NewTarget(id, 8080)
	if err != nil {
		t.Fatal(err)
	}
	return tg
}

// lostReply: whoever loses a reply tries again, the caller or a retrying
// client. The second try fails its own condition, and only the write ID tells
// that from a conflict with somebody else.
func lostReply(t *testing.T, h Harness) {
	first := record(blue, owner("a"))
	h.LoseReply()
	expectConflict(t, retried(func() error { return h.Store.Put(t.Context(), first, ownership.Revision{}) }))
	expectRecords(t, h.Store, blue, first)

	second, seen := after(first, "write-2")
	second.Held["10.0.0.7:8080"] = noon.Add(time.Second)
	h.LoseReply()
	expectConflict(t, retried(func() error { return h.Store.Put(t.Context(), second, seen) }))
	expectRecords(t, h.Store, blue, second)
}

func lostReplyToDelete(t *testing.T, h Harness) {
	rec := record(blue, owner("a"))
	create(t, h.Store, rec)
	h.LoseReply()
	expectConflict(t, retried(func() error { return h.Store.Delete(t.Context(), rec) }))
	expectRecords(t, h.Store, blue)
}

func retried(write func() error) error {
	err := write()
	if errors.Is(err, ownership.ErrUnavailable) {
		return write()
	}
	return err
}

func unwritable(t *testing.T, h Harness) {
	for name, spoil := range map[string]func(*ownership.Record){
		"target not canonical":   func(r *ownership.Record) { r.Held["[::ffff:10.0.0.5]:80"] = noon },
		"target without a port":  func(r *ownership.Record) { r.Releasing["10.0.0.5"] = noon },
		"held and releasing":     func(r *ownership.Record) { r.Releasing["10.0.0.5:8080"] = noon },
		"slash in the namespace": func(r *ownership.Record) { r.Owner.Namespace = "a/b" },
		"no name":                func(r *ownership.Record) { r.Owner.Name = "" },
		"no binding UID":         func(r *ownership.Record) { r.BindingUID = "" },
		"group is no ARN":        func(r *ownership.Record) { r.Group = "cluster" },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			rec := record(blue, owner("a"))
			spoil(&rec)
			err := h.Store.Put(t.Context(), rec, ownership.Revision{})
			g.Expect(err).To(HaveOccurred())
			g.Expect(err).NotTo(MatchError(ownership.ErrConflict))
			expectRecords(t, h.Store, blue)
		})
	}
}
