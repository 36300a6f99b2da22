package stores

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

// What the protocol asks of a store: writes and consistent reads of one
// record are linearizable. A reading of a whole group is no snapshot, and
// counts as one read of each record.

// access is one call as a client sees it, for one record.
type access struct {
	owner int
	verb  string // read, put or delete
	seen  string // write ID that the condition demands, or that a read found; "" is no record
	next  string // write ID of a put
}

// answer is what the client was told.
type answer int

const (
	done     answer = iota
	conflict        // the condition did not hold
	either          // a conflict, perhaps with its own first try, whose reply was lost
	doubtful        // no answer: it may take effect at any later time, or never
)

// model is a register with compare-and-set, one for each owner.
var model = porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byOwner := map[int][]porcupine.Operation{}
		for _, op := range history {
			owner := op.Input.(access).owner
			byOwner[owner] = append(byOwner[owner], op)
		}
		return slices.Collect(maps.Values(byOwner))
	},
	Init: func() []any { return []any{""} },
	Step: func(state, input, output any) []any {
		a, has := input.(access), state.(string)
		applied, possible := a.next, has == a.seen
		switch {
		case a.verb == "read" && possible:
			return []any{has}
		case a.verb == "read":
			return nil
		case output == done && possible:
			return []any{applied}
		case output == done:
			return nil
		case output == conflict && !possible:
			return []any{has}
		case output == conflict:
			return nil
		case possible:
			return []any{has, applied}
		default:
			return []any{has}
		}
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %v", input, output) },
}

// client makes calls at random and writes down what it was told.
type client struct {
	store   ownership.Store
	random  *rand.Rand
	id      int
	start   time.Time
	lossy   bool // replies get lost
	known   [owners]ownership.Revision
	history []porcupine.Operation
	wrong   string
}

const (
	clients = 8
	owners  = 2
	calls   = 100
)

func (c *client) run(ctx context.Context) {
	for n := range calls {
		owner := c.random.IntN(owners)
		switch c.random.IntN(5) {
		case 0, 1:
			c.read(ctx)
		case 2, 3:
			c.put(ctx, owner, n)
		default:
			c.remove(ctx, owner)
		}
	}
}

func ownerOf(i int) ownership.Owner {
	return ownership.Owner{Cluster: fmt.Sprint("c", i), Namespace: "shop", Name: "web"}
}

func (c *client) read(ctx context.Context) {
	called := time.Since(c.start)
	read, err := c.store.Records(ctx, group)
	if err != nil {
		return // says nothing
	}
	found := [owners]ownership.Record{}
	for _, r := range read.Records {
		found[slices.IndexFunc([]int{0, 1}, func(i int) bool { return ownerOf(i) == r.Owner })] = r
	}
	for i, r := range found {
		c.known[i] = r.Revision
		c.note(access{owner: i, verb: "read", seen: r.WriteID}, called, done)
		if r.WriteID != "" && !maps.Equal(r.Held, contentOf(r.WriteID)) {
			c.wrong = fmt.Sprintf("%s has the content %v", r.WriteID, r.Held)
		}
	}
}

// contentOf makes the content of each write its own.
func contentOf(writeID string) map[ownership.Target]time.Time {
	var id, n int
	if _, err := fmt.Sscanf(writeID, "write-%d-%d", &id, &n); err != nil {
		return nil
	}
	return map[ownership.Target]time.Time{ownership.Target(fmt.Sprintf("10.0.%d.%d:80", id, n)): time.Unix(1_800_000_000, 0).UTC()}
}

func (c *client) put(ctx context.Context, owner, n int) {
	seen := c.known[owner]
	next := ownership.Record{
		Group: group, Owner: ownerOf(owner), BindingUID: record.BindingUID, UpdatedAt: time.Unix(1_800_000_000, 0).UTC(),
		Revision: ownership.Revision{Version: seen.Version + 1, WriteID: fmt.Sprintf("write-%d-%d", c.id, n)},
	}
	next.Held = contentOf(next.WriteID)
	called := time.Since(c.start)
	err := c.store.Put(ctx, next, seen)
	c.note(access{owner: owner, verb: "put", seen: seen.WriteID, next: next.WriteID}, called, c.judge(err))
	if err == nil {
		c.known[owner] = next.Revision
	}
}

// remove makes no call where replies get lost: a first put whose record was
// deleted before the client's own retry takes effect twice. The protocol
// allows for it, as for a first write that lands late.
func (c *client) remove(ctx context.Context, owner int) {
	seen := c.known[owner]
	if seen.WriteID == "" || c.lossy {
		return
	}
	called := time.Since(c.start)
	err := c.store.Delete(ctx, ownership.Record{Group: group, Owner: ownerOf(owner), Revision: seen})
	c.note(access{owner: owner, verb: "delete", seen: seen.WriteID}, called, c.judge(err))
	if err == nil {
		c.known[owner] = ownership.Revision{}
	}
}

func (c *client) judge(err error) answer {
	switch {
	case err == nil:
		return done
	case !errors.Is(err, ownership.ErrConflict):
		return doubtful
	case c.lossy:
		return either
	default:
		return conflict
	}
}

// note adds to the history.
func (c *client) note(a access, called time.Duration, told answer) {
	returned := int64(time.Since(c.start))
	if told == doubtful {
		returned = math.MaxInt64
	}
	c.history = append(c.history, porcupine.Operation{ClientId: c.id, Input: a, Call: int64(called), Output: told, Return: returned})
}

// expectLinearizable runs all clients against the store.
func expectLinearizable(t *testing.T, store ownership.Store, lossy bool) {
	t.Helper()
	g := NewWithT(t)
	start, all := time.Now(), make([]*client, clients)
	var running sync.WaitGroup
	for i := range all {
		all[i] = &client{store: store, random: rand.New(rand.NewPCG(uint64(i), 7)), id: i, start: start, lossy: lossy}
		running.Go(func() { all[i].run(t.Context()) })
	}
	running.Wait()

	var history []porcupine.Operation
	told := map[answer]int{}
	for _, c := range all {
		g.Expect(c.wrong).To(BeEmpty())
		history = append(history, c.history...)
		for _, op := range c.history {
			told[op.Output.(answer)]++
		}
	}
	g.Expect(told[done]).To(BeNumerically(">", clients*calls/3), "most calls are answered: %v", told)
	g.Expect(told[conflict]+told[either]+told[doubtful]).To(BeNumerically(">", 0), "the clients are in each other's way: %v", told)
	result, _ := porcupine.CheckOperationsVerbose(model.ToModel(), history, time.Minute)
	g.Expect(result).To(Equal(porcupine.Ok), "the history of %d calls is not that of one register", len(history))
}

func TestStoresAreLinearizable(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		store := memory.New()
		store.Intercept(func(memory.Op) memory.Fault { runtime.Gosched(); return memory.Fault{} })
		expectLinearizable(t, store, false)
	})
	for _, engine := range engines {
		t.Run(engine.Name, func(t *testing.T) { expectLinearizable(t, harness(t, engine.Start(t)).Store, false) })
	}
}

// forgetful loses every tenth reply to a write.
type forgetful struct {
	ownership.Store
	lose func()

	mu sync.Mutex
	n  int
}

func (f *forgetful) Put(ctx context.Context, next ownership.Record, seen ownership.Revision) error {
	f.mu.Lock()
	if f.n++; f.n%10 == 0 {
		f.lose()
	}
	f.mu.Unlock()
	return f.Store.Put(ctx, next, seen)
}

func TestStoresThatLoseRepliesAreLinearizable(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		store := memory.New()
		var mu sync.Mutex
		random := rand.New(rand.NewPCG(1, 1))
		store.Intercept(func(op memory.Op) memory.Fault {
			mu.Lock()
			defer mu.Unlock()
			switch n := random.IntN(20); {
			case op.Kind == memory.Records:
				return memory.Fault{}
			case n == 0:
				return memory.LoseReply()
			case n == 1:
				return memory.Delay()
			default:
				return memory.Fault{}
			}
		})
		expectLinearizable(t, store, true)
	})
	for _, engine := range engines {
		t.Run(engine.Name, func(t *testing.T) {
			h := harness(t, engine.Start(t))
			expectLinearizable(t, &forgetful{Store: h.Store, lose: h.LoseReply}, true)
		})
	}
}

// The check is worth something only if it can fail.
func TestAStaleReadIsNotLinearizable(t *testing.T) {
	put := porcupine.Operation{ClientId: 1, Input: access{verb: "put", next: "write-1-1"}, Call: 0, Output: done, Return: 10}
	for seen, want := range map[string]bool{"write-1-1": true, "": false} {
		read := porcupine.Operation{ClientId: 2, Input: access{verb: "read", seen: seen}, Call: 20, Output: done, Return: 30}
		NewWithT(t).Expect(porcupine.CheckOperations(model.ToModel(), []porcupine.Operation{put, read})).To(Equal(want), seen)
	}
}
