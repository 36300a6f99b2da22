// Package listing is what a load balancer lists, in the words of package
// admin, which knows no load balancer.
package listing

import (
	"context"

	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
)

// Groups lists the targets of groups. [elb.Client] implements it.
type Groups interface {
	Health(context.Context, ownership.GroupARN) (map[ownership.Target]elb.State, error)
}

// Lister implements [admin.Lister].
type Lister struct{ Groups Groups }

// Health implements [admin.Lister]. Errors are those of the groups.
func (l Lister) Health(ctx context.Context, group ownership.GroupARN) (admin.Health, error) {
	states, err := l.Groups.Health(ctx, group)
	if err != nil {
		return nil, err
	}
	health := make(admin.Health, len(states))
	for t, state := range states {
		health[t] = string(state)
	}
	return health, nil
}
