package migrate

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"time"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
)

// leftover is the owner of what LBC registered and has not taken out. No
// binding has a colon in its name, so that no controller takes the record for
// one of its own.
func (m *Migration) leftover(s *subject) ownership.Owner { return m.named(s, "leftover:"+s.Name) }

// leftovers are the targets that are in LBC's list and in the group, and are
// neither wanted here nor in any record: those that leave, and those that stay
// because they are healthy. Something answers there, perhaps of a cluster that
// still runs LBC.
func (s *subject) leftovers() (leave, healthy []ownership.Target) {
	if s.list == nil {
		return nil, nil
	}
	for _, t := range slices.Sorted(maps.Keys(s.list.targets)) {
		state, there := s.there[t]
		if !there || state == "draining" || s.want[t] || recorded(s.books, t) {
			continue
		}
		if state == "healthy" {
			healthy = append(healthy, t)
		} else {
			leave = append(leave, t)
		}
	}
	return leave, healthy
}

// settle waits until no call that LBC made for its bindings is under way, once
// for all bindings. Only then does a list say what LBC left.
func (m *Migration) settle(ctx context.Context, s *subject) error {
	if s.list == nil || m.settled {
		return nil
	}
	m.say("waiting %s until no call of LBC can be under way", m.Settle)
	m.settled = true
	return admin.Wait(ctx, m.Settle)
}

// clearLeftovers imports what LBC left and takes it out, by the protocol: a
// target that another owner holds by then stays. Then the list goes.
func (m *Migration) clearLeftovers(ctx context.Context, s *subject) error {
	if err := m.finishLeftovers(ctx, s); err != nil { // of a run that was interrupted
		return err
	}
	if err := m.look(ctx, s); err != nil {
		return err
	}
	if s.list == nil {
		return nil
	}
	leave, healthy := s.leftovers()
	if m.Force {
		leave, healthy = append(leave, healthy...), nil
	}
	if len(leave) > 0 {
		m.say("%s: taking out %d targets that LBC left", s, len(leave))
		if err := m.record(ctx, s, m.leftover(s), leave); err != nil {
			return err
		}
		if err := m.finishLeftovers(ctx, s); err != nil {
			return err
		}
	}
	if len(healthy) > 0 {
		m.say("%s: %d targets that LBC left stay because they are healthy, such as %s: run the command again when they are not, or with --force", s, len(healthy), healthy[0])
		return nil
	}
	return m.deleteList(ctx, s.list)
}

// record writes targets down for an owner, as any claim is.
func (m *Migration) record(ctx context.Context, s *subject, owner ownership.Owner, targets []ownership.Target) error {
	ledger := m.ledger(s, owner)
	if err := ledger.Look(ctx); err != nil {
		return err
	}
	return ledger.Flag(ctx, targets, nil)
}

func (m *Migration) ledger(s *subject, owner ownership.Owner) *ownership.Ledger {
	return ownership.NewLedger(m.Table, ownership.Identity{
		Group: s.group.ARN, Owner: owner, BindingUID: s.uid(), ControllerVersion: m.Version,
	}, ownership.Env{Now: time.Now, NewID: rand.Text})
}

func (m *Migration) finishLeftovers(ctx context.Context, s *subject) error {
	return m.takeOut(ctx, s, m.leftover(s))
}

// takeOut releases all that a record names, if there is one.
func (m *Migration) takeOut(ctx context.Context, s *subject, owner ownership.Owner) error {
	books, err := m.records(ctx, s)
	if err != nil || of(books, owner).Revision == (ownership.Revision{}) {
		return err
	}
	_, err = admin.TakeOut{
		Table: m.Table, Groups: m.Groups, Cluster: m.id, Only: s.group.ARN, Owner: owner,
		Healthy: true, Version: m.Version, Tell: m.Tell,
		Progress: func(p admin.Progress) {
			if !p.Completed {
				m.say("%s: %d targets: %s", owner, p.Left, p.Summary)
			}
		},
	}.Run(ctx)
	return err
}
