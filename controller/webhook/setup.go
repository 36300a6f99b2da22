package webhook

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"target-ownership-controller/controller/kind"
	"target-ownership-controller/controller/readiness"
)

// What the installation makes for the webhooks: the configuration, and an empty
// Secret in the namespace of the controller.
const (
	ConfigurationName = "target-ownership-controller"
	SecretName        = "target-ownership-controller-webhook"
)

// GatesPath is where the API server sends new Pods.
const GatesPath = "/mutate-v1-pod"

// DefaultsPath is where it sends bindings of a kind.
func DefaultsPath(k kind.Kind) string {
	group := strings.ReplaceAll(k.Version.Group, ".", "-")
	return fmt.Sprintf("/mutate-%s-%s-%s", group, k.Version.Version, strings.ToLower(k.Name))
}

// Options are the settings of the webhooks.
type Options struct {
	Address       string // HOST:PORT or :PORT to listen on
	Secret        types.NamespacedName
	Configuration string
}

// Served is a kind of bindings that get defaults.
type Served struct {
	Kind   kind.Kind
	Groups Groups
}

// Caches limit a manager's cache to the two objects that this package watches.
// Other Secrets are no concern of ours.
func (o Options) Caches() map[client.Object]cache.ByObject {
	named := func(name string) fields.Selector { return fields.OneTermEqualSelector("metadata.name", name) }
	return map[client.Object]cache.ByObject{
		&corev1.Secret{}: {Namespaces: map[string]cache.Config{o.Secret.Namespace: {FieldSelector: named(o.Secret.Name)}}},
		&admissionv1.MutatingWebhookConfiguration{}: {Field: named(o.Configuration)},
	}
}

// Setup adds the webhooks to a manager whose cache has [Options.Caches]. Every
// replica serves them, and is ready once it can; the leader renews the
// certificate. With gates, Pods get readiness gates.
func Setup(ctx context.Context, mgr manager.Manager, o Options, served []Served, gates bool) error {
	keeper := &certificates{client: mgr.GetClient(), live: mgr.GetAPIReader(), clock: clock.RealClock{}, elected: mgr.Elected(), secret: o.Secret, configuration: o.Configuration}
	if err := keeper.setupWithManager(mgr); err != nil {
		return err
	}
	server, err := o.server(mgr.GetClient())
	if err != nil {
		return err
	}
	watched := []client.Object{&corev1.Secret{}, &corev1.Service{}}
	var kinds []kind.Kind
	decoder := admission.NewDecoder(mgr.GetScheme())
	for _, s := range served {
		server.Register(DefaultsPath(s.Kind), serving(&defaults{kind: s.Kind, groups: s.Groups, decoder: decoder}))
		kinds, watched = append(kinds, s.Kind), append(watched, s.Kind.New())
	}
	if gates {
		server.Register(GatesPath, serving(&readiness.Injector{Reader: mgr.GetClient(), Kinds: kinds, Decoder: decoder}))
	}
	for _, object := range watched { // on a standby nobody else has the caches filled
		if _, err := mgr.GetCache().GetInformer(ctx, object, cache.BlockUntilSynced(false)); err != nil {
			return err
		}
	}
	if err := mgr.AddReadyzCheck("webhooks", server.StartedChecker()); err != nil {
		return err
	}
	return mgr.Add(server)
}

// serving has a panic end the call, which lets the object in: an answer that says
// so would refuse it.
func serving(handler admission.Handler) *webhook.Admission {
	return &webhook.Admission{Handler: handler, RecoverPanic: new(false)}
}

func (o Options) server(reader client.Reader) (webhook.Server, error) {
	host, port, err := net.SplitHostPort(o.Address)
	if err != nil {
		return nil, err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	show := shown{reader: reader, secret: o.Secret}
	return webhook.NewServer(webhook.Options{Host: host, Port: int(number), TLSOpts: []func(*tls.Config){
		func(c *tls.Config) { c.GetCertificate = show.certificate },
	}}), nil
}
