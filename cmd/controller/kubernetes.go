package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"

	"target-ownership-controller/controller/kind"
)

// apiTimeout bounds the first call to the Kubernetes API.
const apiTimeout = 10 * time.Second

// kubernetesAPI finds the Kubernetes API as kubectl does, or that of the
// cluster that this process runs in, and checks that it serves the kinds.
func kubernetesAPI(ctx context.Context, kinds []kind.Kind) (*rest.Config, error) {
	if err := kubeconfigThere(); err != nil {
		return nil, err
	}
	config, err := ctrl.GetConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, errors.New("the kubeconfig names no cluster; correct it, or let KUBECONFIG name another file")
	case err != nil:
		return nil, unusable(err)
	}
	for _, k := range kinds {
		if err := servesBindings(ctx, config, k); err != nil {
			return nil, err
		}
	}
	return config, nil
}

// kubeconfigThere says what is missing, since a file that is not there and one
// that says nothing look the same to the client library.
func kubeconfigThere() error {
	given := os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
	switch {
	case given != "" && !slices.ContainsFunc(filepath.SplitList(given), exists):
		return fmt.Errorf("KUBECONFIG: there is no file %s; correct the variable, or unset it for ~/.kube/config or the cluster that this runs in", given)
	case given != "" || exists(clientcmd.RecommendedHomeFile):
		return nil
	}
	if _, outside := rest.InClusterConfig(); outside != nil {
		return fmt.Errorf("there is no Kubernetes API to work with: set KUBECONFIG; there is no %s either, and this is not a pod with a service account: %w",
			clientcmd.RecommendedHomeFile, outside)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return path != "" && !errors.Is(err, os.ErrNotExist)
}

// kubeconfig is the file, or the files, that configure the client library.
func kubeconfig() string {
	if given := os.Getenv(clientcmd.RecommendedConfigPathEnvVar); given != "" {
		return given
	}
	return clientcmd.RecommendedHomeFile
}

func unusable(err error) error {
	return fmt.Errorf("read the kubeconfig %s: %w; correct it, or let KUBECONFIG name another file", kubeconfig(), err)
}

// anonymous reports whether calls go without credentials, as what the API calls
// system:anonymous.
func anonymous(c *rest.Config) bool {
	token, certificate := c.BearerToken+c.BearerTokenFile, c.CertFile+string(c.CertData)
	return token+certificate+c.Username == "" && c.ExecProvider == nil && c.AuthProvider == nil
}

// servesBindings makes the first call to the API, and tells apart why it may not be
// answered.
func servesBindings(ctx context.Context, config *rest.Config, k kind.Kind) error {
	bounded := rest.CopyConfig(config)
	bounded.Timeout = apiTimeout
	client, err := discovery.NewDiscoveryClientForConfig(bounded)
	if err != nil {
		return unusable(err)
	}
	served, err := client.ServerResourcesForGroupVersionWithContext(ctx, k.Version.String())
	switch {
	case apierrors.IsNotFound(err), err == nil && !slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Kind == k.Name }):
		return fmt.Errorf("the CustomResourceDefinition of %s is not installed in the cluster at %s, or does not serve %s: apply charts/target-ownership-controller/files/crds first",
			k.Name, config.Host, k.Version)
	case (apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err)) && anonymous(config):
		return fmt.Errorf("the kubeconfig %s gives no credentials for the Kubernetes API at %s: %w; give its context a user that has a token, a client certificate or an exec plugin",
			kubeconfig(), config.Host, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the Kubernetes API at %s does not accept the credentials: %w; renew those of the kubeconfig or of the service account", config.Host, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("the Kubernetes API at %s forbids to look which kinds it serves: %w; bind the ClusterRole system:discovery", config.Host, err)
	case err != nil && apierrors.ReasonForError(err) != metav1.StatusReasonUnknown:
		return fmt.Errorf("the Kubernetes API at %s answers with an error: %w", config.Host, err)
	case err != nil:
		return fmt.Errorf("the Kubernetes API at %s cannot be reached: %w; check the network, and the server and the certificate authority in the kubeconfig", config.Host, err)
	}
	return nil
}
