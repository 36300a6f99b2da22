package readiness

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/binding"
	"target-ownership-controller/controller/kind"
)

// board has what the last pass over each binding came to.
type board struct {
	mu  sync.Mutex
	all map[place]posting
}

type place struct {
	kind string
	client.ObjectKey
}

// posting is an outcome, and since when each target is known to be registered
// for its Pod: an older listing may be about whoever had the address before.
type posting struct {
	*binding.Outcome
	since map[types.UID]time.Time
}

func (b *board) put(k kind.Kind, key client.ObjectKey, o *binding.Outcome, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := place{k.Name, key}
	if o == nil {
		delete(b.all, at)
		return
	}
	last, next := b.all[at], posting{o, map[types.UID]time.Time{}}
	for pod, s := range o.Waiting {
		if !s.Registered {
			continue
		}
		since, known := last.since[pod]
		if !known || last.UID != o.UID || last.Waiting[pod].Target != s.Target {
			since = now
		}
		next.since[pod] = since
	}
	b.all[at] = next
}

func (b *board) get(k kind.Kind, key client.ObjectKey) posting {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all[place{k.Name, key}]
}
