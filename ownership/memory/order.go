package memory

import (
	"cmp"

	"target-ownership-controller/ownership"
)

// compareOwners orders as DynamoDB sorts a range key: by the bytes.
func compareOwners(a, b ownership.Owner) int { return cmp.Compare(a.String(), b.String()) }

func compareUnreadable(a, b ownership.Unreadable) int { return cmp.Compare(a.Owner, b.Owner) }

func compareKeys(a, b ownership.Key) int {
	return cmp.Or(cmp.Compare(string(a.Group), string(b.Group)), compareOwners(a.Owner, b.Owner))
}
