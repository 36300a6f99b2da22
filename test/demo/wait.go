package demo

import (
	"context"
	"fmt"
	"time"
)

const (
	patience  = 100 * time.Second // of one wait
	pollEvery = 200 * time.Millisecond
	sayEvery  = 5 * time.Second
)

// hopeless says why it makes no sense to wait on: a controller ended unasked,
// or harm has been done.
func (s *stage) hopeless() error {
	for _, site := range s.sites() {
		if c := site.controller; c != nil && c.ended() {
			return fmt.Errorf("the controller of %s ended: %w", site.name, c.Err())
		}
	}
	return firstProblem(s.guard.harmless(), s.guard.recorded())
}

// until asks what is missing until nothing is.
func (s *stage) until(ctx context.Context, what string, missing func(context.Context) (string, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("time was up after %s", patience))
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	last, said := "nothing read yet", time.Now()
	for {
		now, err := missing(ctx)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("waited in vain for %s: %s: %w", what, last, context.Cause(ctx))
		case err != nil:
			return fmt.Errorf("wait for %s: %w", what, err)
		case now == "":
			return nil
		}
		if err := s.hopeless(); err != nil {
			return fmt.Errorf("wait for %s: %w", what, err)
		}
		last = now
		if time.Since(said) >= sayEvery {
			said = time.Now()
			s.screen.progress("waiting for %s: %s", what, last)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}
