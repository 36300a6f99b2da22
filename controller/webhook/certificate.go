package webhook

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"k8s.io/client-go/util/cert"
)

// A certificate is valid for a lifetime, and followed by another once no more
// than spare is left of that.
const (
	lifetime = 90 * 24 * time.Hour
	spare    = lifetime / 3
)

// The keys of the Secret that keeps the certificate, and of what the API server
// is to trust.
const (
	certificateKey = "tls.crt"
	privateKey     = "tls.key"
	authoritiesKey = "ca.crt"
)

// certificate is the content of the Secret, in PEM.
type certificate map[string][]byte

// issue makes a certificate for the hosts, and an authority that signs nothing
// else. The authority of the one before is trusted too, as long as a replica may
// still show that.
func issue(hosts []string, before certificate) (certificate, error) {
	o := cert.SelfSignedCertKeyOptions{Host: hosts[0], MaxAge: lifetime}
	for _, host := range hosts[1:] {
		if ip := net.ParseIP(host); ip != nil {
			o.AlternateIPs = append(o.AlternateIPs, ip)
		} else {
			o.AlternateDNS = append(o.AlternateDNS, host)
		}
	}
	chain, key, err := cert.GenerateSelfSignedCertKeyWithOptions(o)
	if err != nil {
		return nil, fmt.Errorf("issue a certificate: %w", err)
	}
	issued := certificate{certificateKey: chain, privateKey: key}
	issued[authoritiesKey] = slices.Concat(issued.authority(), before.authority())
	return issued, nil
}

// authority is what signed the certificate: the end of its chain. It is empty
// if there is none.
func (c certificate) authority() []byte {
	chain, err := cert.ParseCertsPEM(c[certificateKey])
	if err != nil || len(chain) < 2 {
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: chain[len(chain)-1].Raw})
}

// check says why the API server would not accept the certificate at a time.
func (c certificate) check(hosts []string, at time.Time) error {
	pair, err := tls.X509KeyPair(c[certificateKey], c[privateKey])
	if err != nil {
		return err
	}
	trusted, err := cert.NewPoolFromBytes(c[authoritiesKey])
	if err != nil {
		return fmt.Errorf("%s: %w", authoritiesKey, err)
	}
	if !bytes.Contains(c[authoritiesKey], c.authority()) {
		return errors.New("its authority is not trusted")
	}
	for _, host := range hosts {
		_, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: trusted, CurrentTime: at})
		if err != nil {
			return err
		}
	}
	return nil
}

// renewal is when another certificate has to follow.
func (c certificate) renewal() (time.Time, error) {
	pair, err := tls.X509KeyPair(c[certificateKey], c[privateKey])
	if err != nil {
		return time.Time{}, err
	}
	return pair.Leaf.NotAfter.Add(-spare), nil
}
