package migrate

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/ownership"
)

// What LBC does, as far as a migration relies on it
// (https://github.com/kubernetes-sigs/aws-load-balancer-controller, v2.10 and
// later: controllers/elbv2, pkg/targetgroupbinding):
//
//   - It takes all targets of its list out when it sees a TargetGroupBinding with
//     a deletion timestamp and with its finalizer, and when the Service is gone.
//     A binding that is not there any more it forgets.
//   - In every pass it adds its finalizer, and takes out what is in the group and
//     in its list and is no endpoint. Without a list it takes out nothing, and
//     writes one.
//   - It reads the list once in the life of its process.
//   - Bindings that it made carry labels of their stack.
const (
	lbcFinalizer = "elbv2.k8s.aws/resources"
	listPrefix   = "aws-lbc-targets-"
	listKey      = "targets"
	// gateLabel has LBC put a readiness gate into the pods of a namespace, which
	// then are ready only when LBC says so.
	gateLabel = "elbv2.k8s.aws/pod-readiness-gate-inject"
)

// madeByLBC reports whether LBC made the binding for an Ingress, a Service or a
// Gateway: the keys of the labels are such as ingress.k8s.aws/stack and
// service.k8s.aws/stack-name.
func madeByLBC(labels map[string]string) bool {
	for key := range labels {
		domain, name, _ := strings.Cut(key, "/")
		if strings.HasPrefix(name, "stack") && strings.Contains(domain+".", ".k8s.aws.") {
			return true
		}
	}
	return false
}

// list is what LBC wrote down for a binding.
type list struct {
	targets ownership.Set
	object  corev1.ConfigMap
}

// readList returns nil if there is none.
func (m *Migration) readList(ctx context.Context, binding client.ObjectKey) (*list, error) {
	l := &list{}
	key := client.ObjectKey{Namespace: binding.Namespace, Name: listPrefix + binding.Name}
	if err := m.Cluster.Get(ctx, key, &l.object); apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read LBC's list: %w", err)
	}
	var err error
	if l.targets, err = parseList(l.object.Data); err != nil {
		return nil, fmt.Errorf("ConfigMap %s is not a list that LBC wrote: %w; correct or delete it", key, err)
	}
	return l, nil
}

// parseList reads targets with commas between them. IPv6 addresses have no
// brackets there.
func parseList(data map[string]string) (ownership.Set, error) {
	text, found := data[listKey]
	if !found {
		return nil, fmt.Errorf("it has no key %q", listKey)
	}
	set := ownership.Set{}
	if text == "" {
		return set, nil
	}
	for entry := range strings.SplitSeq(text, ",") {
		colon := strings.LastIndexByte(entry, ':')
		if colon < 0 {
			return nil, fmt.Errorf("%q has no port", entry)
		}
		port, err := strconv.Atoi(entry[colon+1:])
		if err != nil {
			return nil, fmt.Errorf("the port of %q is not a number", entry)
		}
		target, err := ownership.NewTarget(strings.Trim(entry[:colon], "[]"), port)
		if err != nil {
			return nil, err
		}
		set[target] = true
	}
	return set, nil
}

// deleteList deletes the list that was read, not one that was written since.
func (m *Migration) deleteList(ctx context.Context, l *list) error {
	err := m.Cluster.Delete(ctx, &l.object, exactly(&l.object))
	if apierrors.IsConflict(err) {
		return fmt.Errorf("LBC has written its list %s again: run the command again", l.object.Name)
	}
	return client.IgnoreNotFound(err)
}

// exactly is for a delete of an object as it was read.
func exactly(o client.Object) client.Preconditions {
	uid, version := o.GetUID(), o.GetResourceVersion()
	return client.Preconditions{UID: &uid, ResourceVersion: &version}
}

// lbcHolder is the LBC process that leads or led last; no two processes have
// one name.
func (m *Migration) lbcHolder(ctx context.Context) (string, error) {
	var leases coordinationv1.LeaseList
	err := m.Cluster.List(ctx, &leases, client.MatchingFields{metav1.ObjectNameField: cluster.LoadBalancerControllerLease.Name})
	if err != nil {
		return "", fmt.Errorf("read LBC's leader lease: %w", err)
	}
	for _, lease := range leases.Items {
		if holder := lease.Spec.HolderIdentity; holder != nil && *holder != "" {
			return *holder, nil
		}
	}
	return "", nil
}

// gated reports whether LBC decides about the readiness of pods in a namespace.
func (m *Migration) gated(ctx context.Context, namespace string) (bool, error) {
	n := &corev1.Namespace{}
	err := m.Cluster.Get(ctx, client.ObjectKey{Name: namespace}, n)
	return n.Labels[gateLabel] == "enabled", err
}
