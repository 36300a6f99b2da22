//go:build rbac_webhook

package webhook

// What the webhooks need beyond the rules of the controller. Installations
// without them do not get these rules, so that they stand in a file of their
// own: no program is built with this tag. To list and watch can be limited to a
// name where the caches ask for that name only
// (https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-resources).
//
// +kubebuilder:rbac:groups="",namespace=system,resources=secrets,resourceNames=target-ownership-controller-webhook,verbs=get;list;watch;update
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations,resourceNames=target-ownership-controller,verbs=list;watch;patch
