package soak

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"target-ownership-controller/ownership"
)

// settlePatience bounds the wait until all is right: several times the settle
// time of the protocol and the longest of the controllers' retries.
const settlePatience = 4 * time.Minute

// difference says what the group lacks of what the clusters want and nobody
// recorded, and what it has besides.
func (s *soak) difference(ctx context.Context) (missing, extra []string, err error) {
	want := s.external.Clone()
	for _, at := range s.sites {
		ready, err := at.ready(ctx)
		if err != nil {
			return nil, nil, err
		}
		want = want.Union(sets.KeySet(ready))
	}
	in := sets.New(s.lb.registered()...)
	return sets.List(want.Difference(in)), sets.List(in.Difference(want)), nil
}

func (s *soak) wrongGroup(ctx context.Context) (string, error) {
	missing, extra, err := s.difference(ctx)
	var wrong []string
	if len(missing) > 0 {
		wrong = append(wrong, "missing "+short(missing))
	}
	if len(extra) > 0 {
		wrong = append(wrong, "too many "+short(extra))
	}
	return strings.Join(wrong, "; "), err
}

// unsettled is wrongGroup, and asks the records too: each cluster holds its
// ready pods, and releases nothing.
func (s *soak) unsettled(ctx context.Context) (string, error) {
	if wrong, err := s.wrongGroup(ctx); wrong != "" || err != nil {
		return wrong, err
	}
	read, err := s.records(ctx)
	if err != nil {
		return "", err
	}
	for _, at := range s.sites {
		ready, err := at.ready(ctx)
		if err != nil {
			return "", err
		}
		held, leaving := inRecords(read, at.name)
		if !held.Equal(sets.KeySet(ready)) || leaving > 0 {
			return fmt.Sprintf("the records of %s hold %d targets for %d pods, and release %d", at.name, held.Len(), len(ready), leaving), nil
		}
	}
	return "", nil
}

func inRecords(read ownership.Records, cluster string) (held sets.Set[string], leaving int) {
	held = sets.New[string]()
	for _, r := range read.Records {
		if r.Owner.Cluster != cluster {
			continue
		}
		for t := range r.Held {
			held.Insert(string(t))
		}
		leaving += len(r.Releasing)
	}
	return held, leaving
}

// settle waits until all is right, and says what is lost or leaks if it does
// not become so.
func (s *soak) settle(ctx context.Context, what string, missing func(context.Context) (string, error)) error {
	waited := until(ctx, what, settlePatience, missing)
	if waited == nil || ctx.Err() != nil {
		return waited
	}
	lost, leaks, err := s.difference(ctx)
	if err != nil {
		return err
	}
	s.lost, s.leaks = len(lost), len(leaks)
	p := &problem{at: time.Now(), what: waited.Error()}
	for _, t := range append(lost, leaks...)[:min(1, len(lost)+len(leaks))] {
		p.target = t
	}
	return p
}
