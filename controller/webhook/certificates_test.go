package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/cert"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// leader keeps the certificate of two webhooks, at a time of its own.
type leader struct {
	*WithT
	t *testing.T
	*certificates
	clock *testclock.FakePassiveClock
	fails error // each write of the Secret, with this
}

// leading is of a replica that leads.
var leading = func() <-chan struct{} { c := make(chan struct{}); close(c); return c }()

var secretKey = client.ObjectKey{Namespace: "system", Name: SecretName}

func newLeader(t *testing.T, objects ...client.Object) *leader {
	t.Helper()
	l := &leader{WithT: NewWithT(t), t: t, clock: testclock.NewFakePassiveClock(time.Now())}
	api := fake.NewClientBuilder().WithScheme(clientscheme.Scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			if l.fails != nil {
				return l.fails
			}
			return c.Update(ctx, o, options...)
		},
	}).Build()
	l.certificates = &certificates{client: api, live: api, clock: l.clock, elected: leading, secret: secretKey, configuration: ConfigurationName}
	return l
}

func installed() []client.Object {
	return []client.Object{
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: secretKey.Namespace, Name: secretKey.Name}},
		&admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: ConfigurationName}, Webhooks: []admissionv1.MutatingWebhook{
			{Name: "pods.example.com", ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "system", Name: "webhooks", Path: new("/pods")}}},
			{Name: "bindings.example.com", ClientConfig: admissionv1.WebhookClientConfig{URL: new("https://[fd00::1]:9443/bindings")}},
		}},
	}
}

func (l *leader) reconciles() (time.Duration, error) {
	l.t.Helper()
	result, err := l.Reconcile(l.t.Context(), reconcile.Request{})
	return result.RequeueAfter, err
}

func (l *leader) shown() certificate {
	l.t.Helper()
	var secret corev1.Secret
	l.Expect(l.client.Get(l.t.Context(), l.secret, &secret)).To(Succeed())
	return secret.Data
}

// trusts are the authorities that the API server has been told of.
func (l *leader) trusts() []byte {
	l.t.Helper()
	var c admissionv1.MutatingWebhookConfiguration
	l.Expect(l.client.Get(l.t.Context(), client.ObjectKey{Name: l.configuration}, &c)).To(Succeed())
	for _, w := range c.Webhooks {
		l.Expect(w.ClientConfig.CABundle).To(Equal(c.Webhooks[0].ClientConfig.CABundle))
	}
	return c.Webhooks[0].ClientConfig.CABundle
}

// ages has the certificate that is shown end in the given time.
func (l *leader) ages(left time.Duration) {
	l.t.Helper()
	chain, key, err := cert.GenerateSelfSignedCertKeyWithOptions(cert.SelfSignedCertKeyOptions{
		Host: "fd00::1", AlternateDNS: []string{"webhooks.system.svc"}, MaxAge: left + time.Hour, // it begins an hour ago
	})
	l.Expect(err).NotTo(HaveOccurred())
	old := certificate{certificateKey: chain, privateKey: key}
	old[authoritiesKey] = old.authority()
	var secret corev1.Secret
	l.Expect(l.client.Get(l.t.Context(), l.secret, &secret)).To(Succeed())
	secret.Data = old
	l.Expect(l.client.Update(l.t.Context(), &secret)).To(Succeed())
	var c admissionv1.MutatingWebhookConfiguration
	l.Expect(l.client.Get(l.t.Context(), client.ObjectKey{Name: l.configuration}, &c)).To(Succeed())
	l.Expect(l.trust(l.t.Context(), &c, old)).To(Succeed())
}

func (l *leader) accepted() {
	l.t.Helper()
	shown := l.shown()
	shown[authoritiesKey] = l.trusts()
	l.Expect(shown.check([]string{"webhooks.system.svc", "fd00::1"}, l.clock.Now())).To(Succeed())
}

func TestTheFirstCertificate(t *testing.T) {
	l := newLeader(t, installed()...)
	_, err := l.reconciles()
	l.Expect(err).NotTo(HaveOccurred())
	l.accepted()
	again, err := l.reconciles()
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(again).To(BeNumerically("~", 60*24*time.Hour, 2*time.Hour))
	before := l.shown()
	_, err = l.reconciles()
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(l.shown()).To(Equal(before))
}

// An upgrade of the installation may write the configuration anew.
func TestWhomToTrustIsWrittenAgain(t *testing.T) {
	l := newLeader(t, installed()...)
	_, err := l.reconciles()
	l.Expect(err).NotTo(HaveOccurred())
	var c admissionv1.MutatingWebhookConfiguration
	l.Expect(l.client.Get(t.Context(), client.ObjectKey{Name: l.configuration}, &c)).To(Succeed())
	c.Webhooks[1].ClientConfig.CABundle = nil
	l.Expect(l.client.Update(t.Context(), &c)).To(Succeed())
	_, err = l.reconciles()
	l.Expect(err).NotTo(HaveOccurred())
	l.accepted()
}

// The next certificate is shown once all API servers have had the time to see
// whom to trust. At every moment the one that is shown is accepted.
func TestARenewalIsNotNoticed(t *testing.T) {
	l := newLeader(t, installed()...)
	l.ages(spare - time.Hour)
	first := l.shown()
	again, err := l.reconciles()
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(again).To(Equal(settle))
	l.Expect(l.shown()).To(Equal(first))
	l.accepted()
	trusted := l.trusts()

	l.clock.SetTime(l.clock.Now().Add(settle - time.Second)) // woken too early
	again, err = l.reconciles()
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(again).To(Equal(time.Second))
	l.Expect(l.trusts()).To(Equal(trusted), "no third certificate")

	l.clock.SetTime(l.clock.Now().Add(time.Second))
	_, err = l.reconciles()
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(l.shown()).NotTo(Equal(first))
	l.Expect(l.trusts()).To(Equal(trusted))
	l.accepted()
	_, err = l.reconciles()
	l.Expect(err).NotTo(HaveOccurred())
	l.accepted()
}

// A leader that ends between the two steps leaves no gap.
func TestALeaderThatEndsWhileItRenews(t *testing.T) {
	l := newLeader(t, installed()...)
	l.ages(spare - time.Hour)
	l.fails = errors.New("connection lost")
	_, err := l.reconciles()
	l.Expect(err).NotTo(HaveOccurred())
	l.clock.SetTime(l.clock.Now().Add(settle))
	_, err = l.reconciles()
	l.Expect(err).To(MatchError(l.fails))
	l.accepted()

	l.fails = nil
	l.certificates = &certificates{client: l.client, live: l.live, clock: l.clock, elected: leading, secret: l.secret, configuration: l.configuration}
	again, err := l.reconciles()
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(again).To(Equal(settle))
	l.accepted()
	l.clock.SetTime(l.clock.Now().Add(settle))
	_, err = l.reconciles()
	l.Expect(err).NotTo(HaveOccurred())
	l.accepted()
	l.Expect(l.shown().check([]string{"webhooks.system.svc"}, l.clock.Now().Add(spare))).To(Succeed())
}

// A replica that does not lead leaves the renewal to the one that does, and waits
// for nobody where no certificate serves: the leader may know of no webhooks.
func TestAReplicaThatDoesNotLead(t *testing.T) {
	l := newLeader(t, installed()...)
	l.elected = make(chan struct{})
	_, err := l.reconciles()
	l.Expect(err).NotTo(HaveOccurred())
	l.accepted()

	l.ages(spare - time.Hour)
	old, trusted := l.shown(), l.trusts()
	again, err := l.reconciles()
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(again).To(Equal(lookAgain))
	l.Expect(l.shown()).To(Equal(old))
	l.Expect(l.trusts()).To(Equal(trusted))

	l.elected = leading
	again, err = l.reconciles()
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(again).To(Equal(settle))
	l.Expect(l.trusts()).NotTo(Equal(trusted))
}

// What nobody accepts any more is replaced at once.
func TestAnExpiredCertificate(t *testing.T) {
	l := newLeader(t, installed()...)
	l.ages(-time.Minute)
	first := l.shown()
	_, err := l.reconciles()
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(l.shown()).NotTo(Equal(first))
}

func TestInstallationsThatLackSomething(t *testing.T) {
	objects := installed()
	uncalled := objects[1].DeepCopyObject().(*admissionv1.MutatingWebhookConfiguration)
	uncalled.Webhooks = nil
	for name, objects := range map[string][]client.Object{
		"nothing there":    nil,
		"no Secret":        objects[1:],
		"no configuration": objects[:1],
		"no webhooks":      {objects[0], uncalled},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLeader(t, objects...)
			again, err := l.reconciles()
			l.Expect(err).NotTo(HaveOccurred(), "the next event wakes it")
			l.Expect(again).To(BeZero())
		})
	}
}

func TestWhatTheServerShows(t *testing.T) {
	l := newLeader(t, installed()...)
	server := shown{reader: l.client, secret: l.secret}
	l.Expect(handshake(server)).Error().To(MatchError(ContainSubstring("the Secret system/" + SecretName + " has no certificate")))
	_, err := l.reconciles()
	l.Expect(err).NotTo(HaveOccurred())
	first, err := tls.X509KeyPair(l.shown()[certificateKey], l.shown()[privateKey])
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(handshake(server)).To(Equal(first.Certificate[0]))
}

// handshake is the certificate that a client is shown, or why the server shows
// none.
func handshake(s shown) ([]byte, error) {
	here, there := net.Pipe()
	failed := make(chan error, 1)
	go func() { failed <- tls.Server(there, &tls.Config{GetCertificate: s.certificate}).Handshake() }()
	client := tls.Client(here, &tls.Config{InsecureSkipVerify: true})
	_ = client.Handshake() // what the server says of it is the better message
	if err := <-failed; err != nil {
		return nil, err
	}
	return client.ConnectionState().PeerCertificates[0].Raw, nil
}
