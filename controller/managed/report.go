package managed

import (
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// noteLength is what the API takes as the note of an event
// (https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/).
const noteLength = 1024

// told remembers which problems of an object have been told.
type told struct {
	mu  sync.Mutex
	all map[client.ObjectKey][]Problem
}

// replace notes the problems that there are now.
func (t *told) replace(key client.ObjectKey, now []Problem) (before []Problem) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before = t.all[key]
	delete(t.all, key)
	if len(now) > 0 {
		t.all[key] = now
	}
	return before
}

// report makes an event of each reason that has come up or changed. Events of
// one reason are counted as one, so that its problems go into one note.
func (r *Reconciler) report(owner client.Object, problems []Problem) {
	var now []Problem
	for _, p := range problems {
		i := slices.IndexFunc(now, func(q Problem) bool { return q.Reason == p.Reason })
		switch {
		case i < 0:
			now = append(now, p)
		case !strings.Contains(now[i].Message, p.Message):
			now[i].Message += "; " + p.Message
		}
	}
	before := r.told.replace(client.ObjectKeyFromObject(owner), now)
	for _, p := range now {
		if !slices.Contains(before, p) {
			r.Events.Eventf(owner, nil, corev1.EventTypeWarning, string(p.Reason), "Bind", "%s", cut(p.Message))
		}
	}
}

// tell makes an event of something done.
func (r *Reconciler) tell(owner client.Object, reason Reason, message string) {
	r.Events.Eventf(owner, nil, corev1.EventTypeNormal, string(reason), "Bind", "%s", cut(message))
}

func cut(note string) string {
	if len(note) < noteLength {
		return note
	}
	return strings.ToValidUTF8(note[:noteLength-4], "") + "..."
}
