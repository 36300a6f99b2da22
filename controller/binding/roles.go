package binding

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
)

// as reaches groups with a role.
func (r *Reconciler) as(role elb.Role) Groups {
	if role.ARN == "" || r.Assume == nil {
		return r.Groups
	}
	return r.Assume(role)
}

// roles remember with which role each record's group is reached, until the
// record is gone: the binding that names the role may go without a word.
type roles struct {
	mu sync.Mutex
	of map[ownership.Key]elb.Role
}

func newRoles() *roles { return &roles{of: map[ownership.Key]elb.Role{}} }

func (r *roles) remember(key ownership.Key, role elb.Role) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[key] = role
}

func (r *roles) forget(key ownership.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, key)
}

func (r *roles) get(key ownership.Key) (elb.Role, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	role, known := r.of[key]
	return role, known
}

// reach finds the credentials for the group of a record that no binding
// stands for: those that it was written with, else those of another binding of
// the group. The controller's own are none for a group of another account.
func (r *Reconciler) reach(key ownership.Key) (Groups, error) {
	if role, known := r.roles.get(key); known {
		return r.as(role), nil
	}
	if r.Account == "" || key.Group.Account() == r.Account {
		return r.Groups, nil
	}
	if groups := r.states.reaching(key.Group); groups != nil {
		return groups, nil
	}
	kind, name := key.Owner.Object()
	return nil, fmt.Errorf("target group %s is in account %s, and nothing says which role reaches it, since its binding is gone: its targets and the record stay; create the %s %s in namespace %s again, with spec.iamRoleArnToAssume, and delete it",
		key.Group, key.Group.Account(), kind, name, key.Owner.Namespace)
}

// believes judges the answer that a group does not exist. To credentials of
// another account AWS may say so of a group that does.
func (r *Reconciler) believes(key ownership.Key, spec elb.Role) error {
	_, reached := r.roles.get(key)
	if r.Account != "" || r.Assume == nil || reached || spec.ARN != "" {
		return nil
	}
	return fmt.Errorf("target group %s is not found with the controller's own credentials, and since their account is unknown it may be in another one: restart the controller when it can reach AWS STS", key.Group)
}

// reaching is how some binding reaches a group; nil if none does.
func (s *states) reaching(group ownership.GroupARN) Groups {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.all {
		if st.group.ARN == group {
			return st.groups
		}
	}
	return nil
}

// unreachable reports whether nothing can be said of the group, or done to it,
// for want of a role.
func unreachable(err error) bool {
	return is[*elb.RoleError](err) || is[*specError](err) || errors.Is(err, elb.ErrGroupElsewhere)
}

// neverBound lets a binding go whose group cannot be reached, if it never had
// targets there. Else it stays, and so does the cause.
func (r *Reconciler) neverBound(ctx context.Context, b *round, cause error) error {
	if b.state != nil {
		return cause
	}
	arn, err := ownership.ParseGroupARN(cmp.Or(b.Spec.TargetGroupARN, b.Status.TargetGroupARN))
	if err != nil {
		b.done = true // nothing is known to have been bound
		return nil
	}
	ledger := r.ledger(r.keyOf(client.ObjectKeyFromObject(b), arn), b.UID)
	if err := ledger.Look(ctx); err != nil {
		return err
	}
	if !ledger.Record().Empty() {
		return cause
	}
	b.state, b.done = &state{group: elb.Group{ARN: arn}, ledger: ledger}, true
	return nil
}
