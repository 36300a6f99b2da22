// Package storetest is the contract of [ownership.Store],
// [ownership.Registry] and [history.Store] as one suite that every store
// passes.
package storetest

import (
	"testing"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
)

// Harness is a store under test, empty, and the hands that the suite needs to
// disturb it.
type Harness struct {
	Store    ownership.Store
	Registry ownership.Registry
	History  history.Store

	// LoseReply lets the next write be applied and its reply be lost. Should
	// the store itself try again, that attempt is answered.
	LoseReply func()

	// Damage changes the stored item of a record behind the store's back.
	Damage func(t testing.TB, key ownership.Key, damage Damage)

	// DamageCluster does so with a cluster's entry.
	DamageCluster func(t testing.TB, id string, damage Damage)

	// SetState writes a state into a cluster's entry behind the store's back.
	SetState func(t testing.TB, id string, state ownership.ClusterState)
}

// Run runs the contract. start returns a fresh, empty store; page limits, if
// the store has any, should be below 10 items.
func Run(t *testing.T, start func(t *testing.T) Harness) {
	cases := []struct {
		name string
		run  func(t *testing.T, h Harness)
	}{
		{"a record comes back as it was written", roundTrip},
		{"an empty record comes back with empty maps", roundTripEmpty},
		{"a record of 1000 targets comes back whole", roundTripLarge},
		{"nothing shares memory with the store", noAliasing},
		{"a record is created only where there is none", createIfAbsent},
		{"a record is replaced only at the revision seen", versionedPut},
		{"a record is deleted only at the revision seen", versionedDelete},
		{"a record deleted and written anew is another one", aba},
		{"one of eight racing writers wins", race},
		{"a revision that cannot follow is refused", badRevision},
		{"a lost reply is recognised by the write ID", lostReply},
		{"a lost reply to a delete is a conflict with nothing left", lostReplyToDelete},
		{"a record that readers would refuse is not written", unwritable},
		{"a record beyond the item limit is refused", tooLarge},
		{"a cancelled call is an error and changes nothing", cancelled},
		{"a listing is complete beyond a page", completeListing},
		{"groups are apart", isolation},
		{"groups are found by cluster", groupsByCluster},
		{"an item that cannot be read is reported", unreadable},
		{"a cluster is claimed once", claimCluster},
		{"a cluster's entry comes back as it was written", roundTripCluster},
		{"clusters are listed completely", listClusters},
		{"a state of a newer version comes through, and is not written", unknownState},
		{"an entry that readers would refuse is not written", unwritableCluster},
		{"an entry that cannot be read is named and hides no other", unreadableCluster},
		{"a lost reply to a claim is recognised by the write ID", lostReplyToClaim},
		{"an entry of history comes back as it was written", roundTripEntry},
		{"history comes with the newest first, beyond a page", newestFirst},
		{"history is read from a time, for a target, and up to a limit", selectHistory},
		{"an entry that is written twice is there once", recordTwice},
		{"history is no record, and of no cluster", historyApart},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(t, start(t)) })
	}
}
