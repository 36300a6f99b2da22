package v1beta1

// AnnotationPrefix begins the annotations of this project. Those of a binding
// are its policies; docs/policies.md says what each does.
const AnnotationPrefix = "elbv2.k8s.aws/target-ownership-"

// TargetGroupsAnnotation names the target groups of a Service's ports or of an
// Ingress's backends. On a binding it means nothing.
const TargetGroupsAnnotation = AnnotationPrefix + "target-groups"

// DeletionPolicyAnnotation says what becomes of the targets of a binding that
// is deleted.
const (
	DeletionPolicyAnnotation = AnnotationPrefix + "deletion-policy"
	// DeletionPolicyDelete has them leave the group first. It is the default.
	DeletionPolicyDelete = "Delete"
	// DeletionPolicyRetain leaves them in the group, where they are nobody's.
	DeletionPolicyRetain = "Retain"
	// DeletionPolicyHandOver keeps each of them until the owner that
	// HandOverToAnnotation names holds it.
	DeletionPolicyHandOver = "HandOver"
)

// HandOverToAnnotation names the owner that takes the targets over, as
// CLUSTER/NAMESPACE/NAME.
const HandOverToAnnotation = AnnotationPrefix + "hand-over-to"

// MaximumAnnotation is how many targets the binding has at most.
const MaximumAnnotation = AnnotationPrefix + "maximum"

// ShareAnnotation is the part of the targets that all owners hold in the group
// that the binding has at most, as a percentage.
const ShareAnnotation = AnnotationPrefix + "share"

// OrderAnnotation says whether targets join before others leave, or after.
const (
	OrderAnnotation = AnnotationPrefix + "order"
	// OrderRegisterFirst is the default.
	OrderRegisterFirst = "RegisterFirst"
	// OrderReleaseFirst has them leave first.
	OrderReleaseFirst = "ReleaseFirst"
)

// HoldServingAnnotation is how long a target of type ip stays whose endpoint is
// terminating and serves still, as a Go duration such as 20s, up to an hour.
const HoldServingAnnotation = AnnotationPrefix + "hold-serving"

// MinimumAnnotation is how many targets stay at least, when more than the others
// are not ready: a number, or a percentage of the endpoints that there are.
const MinimumAnnotation = AnnotationPrefix + "minimum"

const (
	// NodesAnnotation is which nodes are targets of type instance.
	NodesAnnotation = AnnotationPrefix + "nodes"
	// NodesAll are all nodes that are fit for traffic.
	NodesAll = "All"
	// NodesLocal are those with a ready endpoint of the Service.
	NodesLocal = "Local"
)
