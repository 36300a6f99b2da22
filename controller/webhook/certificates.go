package webhook

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// settle is how long all API servers may take to see whom to trust, before the
// replicas show another certificate.
const settle = 10 * time.Second

// certificates keeps a certificate in the Secret, and its authority in the
// configuration of the webhooks. The leader renews it. While there is none that
// serves, every replica makes one: the leader may be of a time before there were
// webhooks, and wait to be replaced until another replica is ready.
type certificates struct {
	client        client.Client
	live          client.Reader // a Secret that is overwritten has to be the present one
	clock         clock.PassiveClock
	elected       <-chan struct{} // closed once this replica leads
	secret        types.NamespacedName
	configuration string

	next    certificate // until it is in the Secret
	trusted time.Time   // since when next is
}

func (c *certificates) setupWithManager(mgr ctrl.Manager) error {
	all := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: c.secret}}
	})
	return ctrl.NewControllerManagedBy(mgr).Named("webhook-certificate").
		WithOptions(controller.Options{NeedLeaderElection: new(false)}).
		Watches(&corev1.Secret{}, all).
		Watches(&admissionv1.MutatingWebhookConfiguration{}, all).
		Complete(c)
}

// Reconcile implements reconcile.Reconciler. A new certificate is trusted first
// and shown then.
func (c *certificates) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	configuration, secret, err := c.read(ctx)
	if err != nil || configuration == nil || secret == nil {
		return reconcile.Result{}, err
	}
	hosts := hostsOf(configuration)
	if len(hosts) == 0 {
		log.FromContext(ctx).Info("no webhook is called, so there is no certificate", "configuration", c.configuration)
		return reconcile.Result{}, nil
	}
	now, present := c.clock.Now(), certificate(secret.Data)
	if present.check(hosts, now.Add(spare)) == nil {
		c.next = nil
		return c.wait(ctx, configuration, present)
	}
	if !c.leads() && present.check(hosts, now) == nil {
		c.next = nil
		return reconcile.Result{RequeueAfter: lookAgain}, nil
	}
	if c.next.check(hosts, now.Add(spare)) != nil {
		if c.next, err = issue(hosts, present); err != nil {
			return reconcile.Result{}, err
		}
		c.trusted = now
	}
	if err := c.trust(ctx, configuration, c.next); err != nil {
		return reconcile.Result{}, err
	}
	if left := c.trusted.Add(settle).Sub(now); left > 0 && present.check(hosts, now) == nil {
		return reconcile.Result{RequeueAfter: left}, nil
	}
	return reconcile.Result{}, c.show(ctx, secret)
}

// lookAgain is when a replica that does not lead sees whether it does by then.
const lookAgain = time.Minute

func (c *certificates) leads() bool {
	select {
	case <-c.elected:
		return true
	default:
		return false
	}
}

// read finds the two objects, which the installation makes. Without one of them
// there is nothing to do until it is there.
func (c *certificates) read(ctx context.Context) (*admissionv1.MutatingWebhookConfiguration, *corev1.Secret, error) {
	configuration, secret := &admissionv1.MutatingWebhookConfiguration{}, &corev1.Secret{}
	err := c.client.Get(ctx, client.ObjectKey{Name: c.configuration}, configuration)
	if err == nil {
		err = c.live.Get(ctx, c.secret, secret)
	}
	if apierrors.IsNotFound(err) {
		log.FromContext(ctx).Error(err, "no webhook is called until this is there: install it, or leave out --webhook-bind-address")
		return nil, nil, nil
	}
	return configuration, secret, err
}

// trust has the API server accept a certificate.
func (c *certificates) trust(ctx context.Context, configuration *admissionv1.MutatingWebhookConfiguration, shown certificate) error {
	before := configuration.DeepCopy()
	for i := range configuration.Webhooks {
		configuration.Webhooks[i].ClientConfig.CABundle = shown[authoritiesKey]
	}
	if slices.EqualFunc(before.Webhooks, configuration.Webhooks, func(a, b admissionv1.MutatingWebhook) bool {
		return bytes.Equal(a.ClientConfig.CABundle, b.ClientConfig.CABundle)
	}) {
		return nil
	}
	err := c.client.Patch(ctx, configuration, client.StrategicMergeFrom(before, client.MergeFromWithOptimisticLock{}))
	if err != nil {
		return fmt.Errorf("write the authority of the certificate: %w", err)
	}
	return nil
}

// show puts the next certificate where all replicas find it.
func (c *certificates) show(ctx context.Context, secret *corev1.Secret) error {
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	maps.Copy(secret.Data, c.next)
	if err := c.client.Update(ctx, secret); err != nil {
		return fmt.Errorf("keep the certificate: %w", err)
	}
	log.FromContext(ctx).Info("the webhooks have a new certificate", "secret", c.secret.String())
	return nil
}

// wait is for the time when the certificate is due for renewal.
func (c *certificates) wait(ctx context.Context, configuration *admissionv1.MutatingWebhookConfiguration, present certificate) (reconcile.Result, error) {
	if err := c.trust(ctx, configuration, present); err != nil {
		return reconcile.Result{}, err
	}
	due, err := present.renewal()
	return reconcile.Result{RequeueAfter: max(due.Sub(c.clock.Now()), time.Second)}, err
}

// hostsOf are the hosts under which the API server calls the webhooks, each
// once. A Service has the name that the API server asks for
// (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#service-reference).
func hostsOf(configuration *admissionv1.MutatingWebhookConfiguration) []string {
	var hosts []string
	for _, w := range configuration.Webhooks {
		switch c := w.ClientConfig; {
		case c.Service != nil:
			hosts = append(hosts, fmt.Sprintf("%s.%s.svc", c.Service.Name, c.Service.Namespace))
		case c.URL != nil:
			if u, err := url.Parse(*c.URL); err == nil && u.Hostname() != "" {
				hosts = append(hosts, u.Hostname())
			}
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}
