package soak

import (
	"context"
	"time"

	"target-ownership-controller/ownership"
)

// lossPatience bounds the wait for the controllers before and after a loss:
// several times the longest of their retries and the settle time.
const lossPatience = 4 * time.Minute

// loseTable deletes the table and creates it anew, while nothing else fails.
func (s *soak) loseTable(ctx context.Context) error {
	if err := until(ctx, "all controllers to know their records", lossPatience, s.unknown); err != nil {
		return err
	}
	gone := between(0, 5*time.Second, s.lossDraws.Float64())
	s.screen.event("the table is deleted, and created anew after %s", gone.Round(100*time.Millisecond))
	s.faults.begin(tableLost, tableLost)
	defer s.faults.end(tableLost)
	s.guard.loseTable(true)
	if err := s.table.delete(ctx); err != nil {
		return err
	}
	begun := time.Now()
	if err := pause(ctx, gone); err != nil {
		return err
	}
	if err := s.table.create(ctx); err != nil {
		return err
	}
	if err := until(ctx, "all controllers to write their records anew", lossPatience, s.unwritten); err != nil {
		return err
	}
	s.screen.event("all records are written anew, %s after the deletion", seconds(time.Since(begun)))
	// A call that a look at the table without the others' records allowed may
	// still be under way.
	if err := pause(ctx, ownership.CallBudget); err != nil {
		return err
	}
	s.guard.loseTable(false)
	return nil
}

// unknown names a record that its process has not read yet: one that it found
// at its start and has not written since. A process writes what another left
// before anything else, so one that was written is known.
func (s *soak) unknown(ctx context.Context) (string, error) {
	read, err := s.records(ctx)
	if err != nil {
		return "", err
	}
	for _, r := range read.Records {
		for _, at := range s.sites {
			if found, ok := at.found[r.Owner]; ok && found == r.Revision {
				return r.Owner.String() + " is as its process found it", nil
			}
		}
	}
	return "", nil
}

// unwritten names an owner that has no record.
func (s *soak) unwritten(ctx context.Context) (string, error) {
	read, err := s.records(ctx)
	if err != nil {
		return "", err
	}
	written := map[ownership.Owner]bool{}
	for _, r := range read.Records {
		written[r.Owner] = true
	}
	for _, owner := range s.owners() {
		if !written[owner] {
			return owner.String() + " has no record", nil
		}
	}
	return "", nil
}

func (s *soak) owners() []ownership.Owner {
	var owners []ownership.Owner
	for _, at := range s.sites {
		for _, app := range apps {
			owners = append(owners, ownership.Owner{Cluster: at.name, Namespace: namespace, Name: app})
		}
	}
	return owners
}
