//go:build rbac_readiness

package readiness

// What readiness gates need beyond the rules of the controller. Installations
// without them do not get these rules, so that they stand in a file of their
// own: no program is built with this tag.
//
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=pods/status,verbs=patch
