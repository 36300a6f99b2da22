package main

import (
	"bytes"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/types"

	"target-ownership-controller/controller/webhook"
)

// webhooks are the settings of the webhooks; nil for none. Their certificate is
// kept in the namespace of the controller.
func webhooks(s settings) (*webhook.Options, error) {
	if s.webhookAddress == "0" {
		return nil, nil
	}
	namespace := s.namespace
	if namespace == "" {
		own, err := os.ReadFile(podNamespace)
		if err != nil {
			return nil, fmt.Errorf("--leader-election-namespace: outside a cluster name the namespace of the Secret %s, which --webhook-bind-address needs: %w", webhook.SecretName, err)
		}
		namespace = string(bytes.TrimSpace(own))
	}
	return &webhook.Options{
		Address:       s.webhookAddress,
		Secret:        types.NamespacedName{Namespace: namespace, Name: webhook.SecretName},
		Configuration: webhook.ConfigurationName,
	}, nil
}
