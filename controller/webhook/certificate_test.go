package webhook

import (
	"crypto/tls"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/util/cert"
)

var hosts = []string{"10.0.0.1", "webhooks.system.svc", "fd00::1"}

func issued(t *testing.T, before certificate) certificate {
	t.Helper()
	c, err := issue(hosts, before)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return c
}

func TestAnIssuedCertificateIsAccepted(t *testing.T) {
	g := NewWithT(t)
	c, now := issued(t, nil), time.Now()
	g.Expect(c.check(hosts, now)).To(Succeed())
	g.Expect(c.check(hosts[:1], now.Add(89*24*time.Hour))).To(Succeed())
	due, err := c.renewal()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(due).To(BeTemporally("~", now.Add(60*24*time.Hour), 2*time.Hour), "a month before its end")
}

func TestCertificatesThatAreNotAccepted(t *testing.T) {
	with := func(key string, value []byte) certificate {
		c := issued(t, nil)
		c[key] = value
		return c
	}
	other := issued(t, nil)
	now := time.Now()
	for name, c := range map[string]struct {
		certificate certificate
		hosts       []string
		at          time.Time
		says        string
	}{
		"none":                  {nil, hosts, now, "failed to find any PEM data"},
		"spoilt":                {with(certificateKey, []byte("spoilt")), hosts, now, "failed to find any PEM data"},
		"key of another":        {with(privateKey, other[privateKey]), hosts, now, "private key does not match"},
		"no authority":          {with(authoritiesKey, nil), hosts, now, "ca.crt"},
		"authority of another":  {with(authoritiesKey, other[authoritiesKey]), hosts, now, "its authority is not trusted"},
		"another host":          {issued(t, nil), append(hosts, "other.system.svc"), now, "other.system.svc"},
		"another address":       {issued(t, nil), append(hosts, "10.0.0.2"), now, "10.0.0.2"},
		"expired":               {issued(t, nil), hosts, now.Add(91 * 24 * time.Hour), "expired"},
		"no longer long enough": {issued(t, nil), hosts, now.Add(61*24*time.Hour + spare), "expired"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(c.certificate.check(c.hosts, c.at)).To(MatchError(ContainSubstring(c.says)))
		})
	}
}

// While the replicas change over, whoever asks trusts both; of those before
// nothing is left.
func TestTheCertificateBeforeIsTrusted(t *testing.T) {
	g := NewWithT(t)
	first := issued(t, nil)
	second := issued(t, first)
	third := issued(t, second)
	for c, authorities := range map[*certificate]int{&first: 1, &second: 2, &third: 2} {
		trusted, err := cert.ParseCertsPEM((*c)[authoritiesKey])
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(trusted).To(HaveLen(authorities))
	}
	old := certificate{certificateKey: first[certificateKey], privateKey: first[privateKey], authoritiesKey: second[authoritiesKey]}
	g.Expect(old.check(hosts, time.Now())).To(Succeed())
	old[authoritiesKey] = third[authoritiesKey]
	g.Expect(old.check(hosts, time.Now())).NotTo(Succeed())
	_, err := tls.X509KeyPair(second[certificateKey], second[privateKey])
	g.Expect(err).NotTo(HaveOccurred())
}
