package kube

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// readyPoll is how often a starting API server is asked whether it is ready.
const readyPoll = 50 * time.Millisecond

// startControlPlane runs etcd and kube-apiserver and connects to them. The
// API server waits for etcd by itself, so both start at once.
func (c *Cluster) startControlPlane(ctx context.Context) error {
	port, release, err := reservePort()
	if err != nil {
		return err
	}
	defer release()
	token := rand.Text()
	if err := c.writeCredentials(token); err != nil {
		return err
	}
	if err := c.run(c.binaries.program("etcd"), c.etcdArgs()...); err != nil {
		return err
	}
	args := c.apiServerArgs(port)
	if c.options.Audit {
		audit, err := c.auditArgs()
		if err != nil {
			return err
		}
		args = append(args, audit...)
	}
	if err := c.run(c.binaries.program("kube-apiserver"), args...); err != nil {
		return err
	}
	c.APIServerLog = c.file("kube-apiserver.log")
	url := fmt.Sprintf("https://127.0.0.1:%d", port)
	if err := waitForReady(ctx, url, token); err != nil {
		return err
	}
	return c.connect(url, token)
}

// etcdArgs use sockets in the file system, which need no free ports, and no
// fsync, as the data does not outlive the cluster.
func (c *Cluster) etcdArgs() []string {
	clients, peers := "unix://"+c.file("c.sock"), "unix://"+c.file("p.sock")
	return []string{
		"--name=" + c.Name,
		"--data-dir=" + c.file("etcd"),
		"--listen-client-urls=" + clients,
		"--advertise-client-urls=" + clients,
		"--listen-peer-urls=" + peers,
		"--initial-advertise-peer-urls=" + peers,
		"--initial-cluster=" + c.Name + "=" + peers,
		"--unsafe-no-fsync=true",
		"--log-level=warn",
	}
}

func (c *Cluster) apiServerArgs(port int) []string {
	return []string{
		"--etcd-servers=unix://" + c.file("c.sock"),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--permit-port-sharing=true", // see reservePort
		"--cert-dir=" + c.file("certs"),
		"--token-auth-file=" + c.file("tokens.csv"),
		"--authorization-mode=RBAC",
		"--service-cluster-ip-range=172.20.0.0/16",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.file("service-account.key"),
		"--service-account-signing-key-file=" + c.file("service-account.key"),
		// Pods need no service account, as nothing runs in them. Nodes start
		// without a not-ready taint, as no node lifecycle controller lifts it.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
		"--enable-priority-and-fairness=false",
		"--endpoint-reconciler-type=none", // no slices for the API server itself
	}
}

// auditArgs have who asked for what, and by which rule it was allowed, written
// down before the answer is sent.
func (c *Cluster) auditArgs() ([]string, error) {
	const policy = `{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [{"level": "Metadata"}]}`
	if err := os.WriteFile(c.file("audit-policy.json"), []byte(policy), 0o600); err != nil {
		return nil, err
	}
	c.AuditLog = c.file("audit.log")
	return []string{"--audit-policy-file=" + c.file("audit-policy.json"), "--audit-log-path=" + c.AuditLog}, nil
}

// writeCredentials writes the administrator's token and the key that signs
// service account tokens. The serving certificate the API server makes itself.
func (c *Cluster) writeCredentials(token string) error {
	line := token + `,admin,admin,"system:masters"` + "\n"
	if err := os.WriteFile(c.file("tokens.csv"), []byte(line), 0o600); err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	return os.WriteFile(c.file("service-account.key"), block, 0o600)
}

func waitForReady(ctx context.Context, url, token string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	// Its certificate is known only once it serves; connect verifies it.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	probe := &http.Client{Transport: transport, Timeout: 5 * time.Second}

	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	var last string
	for {
		response, err := probe.Do(request)
		switch {
		case err != nil:
			last = err.Error()
		case response.StatusCode == http.StatusOK:
			return response.Body.Close()
		default:
			response.Body.Close()
			last = response.Status
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("kube-apiserver is not ready: %w (last answer: %s)", context.Cause(ctx), last)
		case <-tick.C:
		}
	}
}

// connect fills in what clients of the cluster need.
func (c *Cluster) connect(url, token string) error {
	ca, err := os.ReadFile(c.file("certs/apiserver.crt"))
	if err != nil {
		return fmt.Errorf("read the certificate that kube-apiserver made: %w", err)
	}
	c.Config = &rest.Config{
		Host:            url,
		BearerToken:     token,
		TLSClientConfig: rest.TLSClientConfig{CAData: ca},
		QPS:             -1,
	}
	c.Kubeconfig = c.file("kubeconfig")
	if err := clientcmd.WriteToFile(kubeconfig(c.Name, c.Config), c.Kubeconfig); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	c.Client, err = client.NewWithWatch(c.Config, client.Options{Scheme: c.options.Scheme})
	if err != nil {
		return fmt.Errorf("connect to kube-apiserver: %w", err)
	}
	return nil
}

func kubeconfig(name string, config *rest.Config) clientcmdapi.Config {
	file := clientcmdapi.NewConfig()
	file.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	file.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: config.BearerToken}
	file.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	file.CurrentContext = name
	return *file
}
