package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/endpoints"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
)

// heldBy, on a SharedTargetGroupBinding, names the LBC process that worked on
// the binding it stands for: that process remembers a list, and must not get
// the binding back.
const heldBy = "ownership.elbv2.k8s.aws/was-bound-by"

// subject is a binding on its way, by the name that it has on both sides.
type subject struct {
	client.ObjectKey
	old   *v1beta1.TargetGroupBinding // the TargetGroupBinding; nil: none
	twin  *v1beta1.TargetGroupBinding // the SharedTargetGroupBinding; nil: none
	group elb.Group
	list  *list // LBC's; nil: none
	want  ownership.Set
	books ownership.Records
	there admin.Health

	what     string // will be done; empty: nothing
	obstacle string // stands in the way
}

func (s *subject) String() string { return s.ObjectKey.String() }

// spec is what the binding says, whichever there is.
func (s *subject) spec() *v1beta1.TargetGroupBinding {
	if s.old != nil {
		return s.old
	}
	return s.twin
}

// uid is for records, which name a binding's.
func (s *subject) uid() string { return string(s.spec().UID) }

// shared reports whether LBC shares the group and keeps a list.
func (s *subject) shared() bool { return s.old == nil || s.old.Spec.MultiClusterTargetGroup }

// sharedSpec is the spec of the twin. That a group is shared needs no saying
// there, and is said, since it has to be on the way back.
func sharedSpec(b *v1beta1.TargetGroupBinding) v1beta1.TargetGroupBindingSpec {
	spec := *b.Spec.DeepCopy()
	spec.MultiClusterTargetGroup = true
	return spec
}

func (s *subject) alike() bool {
	return equality.Semantic.DeepEqual(sharedSpec(s.old), sharedSpec(s.twin))
}

// subjects are all bindings of both kinds, by name.
func (m *Migration) subjects(ctx context.Context) ([]*subject, error) {
	found := map[client.ObjectKey]*subject{}
	for _, k := range kind.All {
		list := k.NewList()
		if err := m.Cluster.List(ctx, list, client.InNamespace(m.Namespace)); meta.IsNoMatchError(err) {
			return nil, fmt.Errorf("the cluster does not know kind %s: apply the CustomResourceDefinitions of this controller", k.Name)
		} else if err != nil {
			return nil, fmt.Errorf("list bindings of kind %s: %w", k.Name, err)
		}
		for _, object := range k.Items(list) {
			key := client.ObjectKeyFromObject(object)
			if found[key] == nil {
				found[key] = &subject{ObjectKey: key}
			}
			if k.Shared {
				found[key].twin = k.Binding(object)
			} else {
				found[key].old = k.Binding(object)
			}
		}
	}
	all := slices.SortedFunc(maps.Values(found), func(a, b *subject) int { return strings.Compare(a.String(), b.String()) })
	for _, s := range all {
		if err := m.look(ctx, s); err != nil {
			s.obstacle = err.Error()
		}
	}
	return all, ctx.Err()
}

// look reads what is known of the binding outside of it.
func (m *Migration) look(ctx context.Context, s *subject) error {
	spec := s.spec().Spec
	if err := m.reachable(spec); err != nil {
		return err
	}
	ref := elb.GroupRef{ARN: spec.TargetGroupARN}
	if ref.ARN == "" {
		ref.Name = spec.TargetGroupName
	}
	var err error
	if s.group, err = m.Groups.Group(ctx, ref); err != nil {
		return err
	}
	if s.list, err = m.readList(ctx, s.ObjectKey); err != nil {
		return err
	}
	if s.there, err = m.Groups.Health(ctx, s.group.ARN); err != nil {
		return err
	}
	if s.books, err = m.records(ctx, s); err != nil {
		return err
	}
	s.want, err = m.wanted(ctx, s)
	return err
}

// reachable says what is missing for a group that a role reaches. The role of the
// binding is for its controller: whoever migrates may have another one.
func (m *Migration) reachable(spec v1beta1.TargetGroupBindingSpec) error {
	account := elb.Role{ARN: spec.IamRoleArnToAssume}.Account()
	switch {
	case spec.IamRoleArnToAssume == "":
		return nil
	case m.Reaches == nil || !m.Reaches(account):
		return fmt.Errorf("spec.iamRoleArnToAssume: give --group-role %s, or another role of account %s that you may assume", spec.IamRoleArnToAssume, account)
	case spec.TargetGroupARN == "":
		return errors.New("spec.targetGroupARN is missing, by which a group of another account is found")
	}
	return nil
}

// records are all of the group. One that cannot be read may name anything.
func (m *Migration) records(ctx context.Context, s *subject) (ownership.Records, error) {
	read, err := m.Table.Records(ctx, s.group.ARN)
	if err == nil && len(read.Unreadable) > 0 {
		err = fmt.Errorf("the record of %s in the group cannot be read: %s", read.Unreadable[0].Owner, read.Unreadable[0].Reason)
	}
	return read, err
}

// wanted are the targets that the controller brings into the group for the
// binding. A Service that there is not wants none.
func (m *Migration) wanted(ctx context.Context, s *subject) (ownership.Set, error) {
	b := s.spec()
	want, err := endpoints.Resolver{Reader: m.Cluster, Nodes: nodes{m.Cluster, map[string]*corev1.Node{}}}.Want(ctx, endpoints.Query{
		Namespace: b.Namespace, ServiceName: b.Spec.ServiceRef.Name, ServicePort: b.Spec.ServiceRef.Port,
		TargetType: s.group.TargetType, Family: s.group.IPAddressType, Protocol: s.group.Protocol,
		NodeSelector: b.Spec.NodeSelector, Nodes: endpoints.NodePolicy(b.Annotations[v1beta1.NodesAnnotation]),
		Held: func(t ownership.Target) bool { return recorded(s.books, t) },
	})
	if missing := new(endpoints.ServiceNotFoundError); errors.As(err, &missing) {
		return ownership.Set{}, nil
	}
	return want.Targets, err
}

// nodes reads each node once: all endpoints are asked for theirs.
type nodes struct {
	client.Reader
	read map[string]*corev1.Node
}

func (n nodes) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if _, known := n.read[key.Name]; !known {
		node := &corev1.Node{}
		if err := n.Reader.Get(ctx, key, node, options...); err != nil {
			return err
		}
		n.read[key.Name] = node
	}
	*into.(*corev1.Node) = *n.read[key.Name]
	return nil
}

// owner is that of the binding of a kind.
func (m *Migration) owner(s *subject, k kind.Kind) ownership.Owner {
	return m.named(s, k.Owner(s.Name))
}

func (m *Migration) named(s *subject, name string) ownership.Owner {
	return ownership.Owner{Cluster: m.id, Namespace: s.Namespace, Name: name}
}

// of is the record of an owner; empty if there is none.
func of(books ownership.Records, owner ownership.Owner) ownership.Record {
	for _, r := range books.Records {
		if r.Owner == owner {
			return r
		}
	}
	return ownership.Record{}
}

// recorded reports whether any record names the target.
func recorded(books ownership.Records, t ownership.Target) bool {
	return slices.ContainsFunc(books.Records, func(r ownership.Record) bool {
		_, held := r.Held[t]
		_, releasing := r.Releasing[t]
		return held || releasing
	})
}
