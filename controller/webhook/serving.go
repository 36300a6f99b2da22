package webhook

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// shown is the certificate that the server shows: that of the Secret, as the
// cache has it.
type shown struct {
	reader client.Reader
	secret types.NamespacedName
}

// readTimeout bounds the wait for a cache that is not filled yet.
const readTimeout = time.Second

// certificate is for tls.Config.GetCertificate.
func (s shown) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	ctx, cancel := context.WithTimeout(hello.Context(), readTimeout)
	defer cancel()
	var secret corev1.Secret
	if err := s.reader.Get(ctx, s.secret, &secret); err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(secret.Data[certificateKey], secret.Data[privateKey])
	if err != nil {
		return nil, fmt.Errorf("the Secret %s has no certificate that can be shown: %w", s.secret, err)
	}
	return &pair, nil
}
