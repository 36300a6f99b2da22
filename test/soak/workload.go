package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	fewestReplicas, mostReplicas = 4, 8
	// movingAddresses are in subnets that all clusters take pods from. Each is
	// a pod of one cluster, of none or, for a moment, of two.
	movingAddresses = 8
)

// workload rolls the Deployments and moves addresses until it is stopped.
type workload struct {
	rollouts atomic.Int64
	moves    atomic.Int64

	stop context.CancelFunc // what is begun is brought to its end
	done sync.WaitGroup
}

// Numbers of the random sources; those of lanes follow.
const (
	sourceRoll  = 100
	sourceMove  = 200
	sourceLanes = 300
)

func (s *soak) startWorkload(ctx context.Context) {
	work, stop := context.WithCancel(ctx)
	s.work.stop = stop
	for i, at := range s.sites {
		s.work.run(s, func() error { return s.roll(ctx, work, at, s.random(sourceRoll+uint64(i))) })
	}
	for i := range movingAddresses {
		s.work.run(s, func() error { return s.move(ctx, work, movingAddress(i), s.random(sourceMove+uint64(i))) })
	}
}

func (w *workload) run(s *soak, loop func() error) {
	w.done.Go(func() {
		if err := loop(); err != nil {
			s.fail(&problem{what: err.Error()})
		}
	})
}

// stopWorkload returns when everything that was begun has come to its end.
func (s *soak) stopWorkload() {
	s.work.stop()
	s.work.done.Wait()
}

func (s *soak) random(number uint64) *rand.Rand { return rand.New(rand.NewPCG(s.options.Seed, number)) }

// roll restarts the Deployment again and again, and sometimes scales it.
func (s *soak) roll(ctx, work context.Context, at *site, random *rand.Rand) error {
	for pause(work, between(2*time.Second, 6*time.Second, random.Float64())) == nil {
		replicas, scale := fewestReplicas+random.Int32N(mostReplicas-fewestReplicas+1), random.IntN(4) == 0
		var err error
		if scale {
			err = at.web.Scale(ctx, replicas)
		} else {
			err = at.web.Restart(ctx)
		}
		if err != nil {
			return fmt.Errorf("roll: %w", err)
		}
		s.work.rollouts.Add(1)
	}
	return nil
}

// move gives an address from cluster to cluster.
func (s *soak) move(ctx, work context.Context, address string, random *rand.Rand) error {
	home, pod := s.sites[random.IntN(len(s.sites))], (*corev1.Pod)(nil)
	for pause(work, between(2*time.Second, 8*time.Second, random.Float64())) == nil {
		next := s.other(home, random.IntN(len(s.sites)-1))
		order, gap := random.IntN(3), between(0, 2*time.Second, random.Float64())
		moved, err := handOver(ctx, handover{address, home, next, pod, order, gap})
		if err != nil {
			return fmt.Errorf("move %s from %s to %s: %w", address, home.name, next.name, err)
		}
		home, pod = next, moved
		s.work.moves.Add(1)
	}
	return nil
}

func movingAddress(i int) string { return fmt.Sprintf("10.99.0.%d", i+1) }

// other is the nth of the other sites.
func (s *soak) other(than *site, n int) *site {
	for _, at := range s.sites {
		if at != than {
			if n == 0 {
				return at
			}
			n--
		}
	}
	panic("there is no other site")
}

type handover struct {
	address  string
	from, to *site
	pod      *corev1.Pod // nil: there is none yet
	order    int
	gap      time.Duration
}

// handOver moves an address: at once in both clusters, first out then in, or
// first in then out.
func handOver(ctx context.Context, h handover) (moved *corev1.Pod, err error) {
	out := func() error {
		if h.pod == nil {
			return nil
		}
		return h.from.moving.RemovePod(ctx, h.pod)
	}
	in := func() (err error) {
		moved, err = h.to.moving.RunPodAt(ctx, h.address)
		return err
	}
	switch h.order {
	case 0:
		left := make(chan error, 1)
		go func() { left <- out() }()
		err = errors.Join(in(), <-left)
	case 1:
		err = inTurn(ctx, h.gap, out, in)
	default:
		err = inTurn(ctx, h.gap, in, out)
	}
	return moved, err
}

func inTurn(ctx context.Context, gap time.Duration, first, second func() error) error {
	if err := first(); err != nil {
		return err
	}
	if err := pause(ctx, gap); err != nil {
		return err
	}
	return second()
}
