package managed

import (
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
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

// report makes an event of each problem that has come up or changed. Events of
// one reason, about one binding or none, are counted as one and show the first
// note only (client-go, tools/events), so that problems alike go into one note.
func (r *Reconciler) report(owner client.Object, problems []Problem) {
	var now []Problem
	for _, p := range problems {
		i := slices.IndexFunc(now, func(q Problem) bool { return q.Reason == p.Reason && q.Binding == p.Binding })
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
			r.Events.Eventf(owner, r.about(owner, p.Binding), corev1.EventTypeWarning, string(p.Reason), "Bind", "%s", cut(p.Message))
		}
	}
}

// tell makes an event of something done to a binding.
func (r *Reconciler) tell(owner client.Object, reason Reason, binding, message string) {
	r.Events.Eventf(owner, r.about(owner, binding), corev1.EventTypeNormal, string(reason), "Bind", "%s", cut(message))
}

// about is a binding of an owner, which may not be there, or nil if it has no
// name.
func (r *Reconciler) about(owner client.Object, binding string) runtime.Object {
	if binding == "" {
		return nil
	}
	o := r.Kind.New()
	o.SetNamespace(owner.GetNamespace())
	o.SetName(binding)
	return o
}

func cut(note string) string {
	if len(note) < noteLength {
		return note
	}
	return strings.ToValidUTF8(note[:noteLength-4], "") + "..."
}
