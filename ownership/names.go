package ownership

import (
	"fmt"
	"regexp"
	"strings"
)

// GroupARN is the ARN of an ELBv2 target group.
type GroupARN string

var groupARN = regexp.MustCompile(`^arn:aws[a-z-]*:elasticloadbalancing:([a-z0-9-]+):([0-9]{12}):targetgroup/[A-Za-z0-9-]{1,32}/[0-9a-f]{1,32}$`)

// ParseGroupARN accepts arn:PARTITION:elasticloadbalancing:REGION:ACCOUNT:targetgroup/NAME/ID
// (https://docs.aws.amazon.com/service-authorization/latest/reference/list_awselasticloadbalancingv2.html).
func ParseGroupARN(s string) (GroupARN, error) {
	if !groupARN.MatchString(s) {
		return "", fmt.Errorf("%q is not a target group ARN (arn:aws:elasticloadbalancing:REGION:ACCOUNT:targetgroup/NAME/ID)", s)
	}
	return GroupARN(s), nil
}

// Region returns the region that the ARN names.
func (g GroupARN) Region() string { return g.field(3) }

// Account returns the twelve-digit account that the ARN names.
func (g GroupARN) Account() string { return g.field(4) }

// Name returns the group's name, for people.
func (g GroupARN) Name() string {
	parts := strings.Split(string(g), "/")
	if len(parts) < 2 {
		return string(g)
	}
	return parts[1]
}

func (g GroupARN) field(i int) string {
	fields := strings.SplitN(string(g), ":", 6)
	if i >= len(fields) {
		return ""
	}
	return fields[i]
}

// Owner names a binding of a cluster.
type Owner struct {
	Cluster   string // cluster ID
	Namespace string
	Name      string
}

// String returns cluster/namespace/name. It is injective, since "/" is
// illegal in each part.
func (o Owner) String() string { return o.Cluster + "/" + o.Namespace + "/" + o.Name }

// ParseOwner reads what [Owner.String] writes.
func ParseOwner(s string) (Owner, error) {
	parts := strings.Split(s, "/")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return Owner{}, fmt.Errorf("owner %q: want cluster/namespace/name", s)
	}
	return Owner{Cluster: parts[0], Namespace: parts[1], Name: parts[2]}, nil
}

// SharedPrefix begins the name of an owner that is a SharedTargetGroupBinding.
// No object of Kubernetes has a colon in its name.
const SharedPrefix = "stgb:"

// Object returns the binding as kubectl names it: describe KIND NAME.
func (o Owner) Object() (kind, name string) {
	if name, shared := strings.CutPrefix(o.Name, SharedPrefix); shared {
		return "sharedtargetgroupbinding", name
	}
	return "targetgroupbinding", o.Name
}

var clusterID = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?$`)

// ValidateClusterID says what is wrong with a cluster ID. EKS cluster names
// are valid: up to 100 letters, digits, hyphens and underscores
// (https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html).
func ValidateClusterID(id string) error {
	if id == "" {
		return fmt.Errorf("the cluster ID is empty")
	}
	if !clusterID.MatchString(id) {
		return fmt.Errorf("the cluster ID %q has to be 1 to 100 letters, digits, '-', '_' or '.', with a letter or digit at both ends", id)
	}
	return nil
}
