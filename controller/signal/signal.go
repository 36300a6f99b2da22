// Package signal tells controllers that something which concerns many of their
// objects has changed.
package signal

import "sigs.k8s.io/controller-runtime/pkg/event"

// Signal has the channels of those who want to know. Its owner sees to it that
// no two of its methods run at a time.
type Signal[T any] struct {
	watchers []chan event.TypedGenericEvent[T]
}

// Watch returns a new channel that gets an event after every Tell from now on.
// It is made for source.Channel. Events that nobody has received yet are one.
func (s *Signal[T]) Watch() <-chan event.TypedGenericEvent[T] {
	watcher := make(chan event.TypedGenericEvent[T], 1)
	s.watchers = append(s.watchers, watcher)
	return watcher
}

// Tell sends the event to all, and waits for nobody.
func (s *Signal[T]) Tell(about T) {
	for _, watcher := range s.watchers {
		select {
		case watcher <- event.TypedGenericEvent[T]{Object: about}:
		default: // the event that waits there tells this change too
		}
	}
}
