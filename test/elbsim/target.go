package elbsim

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

// Target names one target of a group.
type Target struct {
	// ID is an IP address or an instance ID.
	ID   string
	Port int32
	// Zone is an Availability Zone, "all", or empty.
	Zone string
}

// Key is the canonical name of the target: 10.0.0.5:8080,
// [2001:db8::5]:8080 or i-0abc:30080. The zone is not part of it.
func (t Target) Key() string {
	port := strconv.Itoa(int(t.Port))
	addr, err := netip.ParseAddr(t.ID)
	if err != nil {
		return t.ID + ":" + port
	}
	if addr.Is4() {
		return addr.String() + ":" + port
	}
	return "[" + addr.String() + "]:" + port
}

// ParseTarget reads a key back. The error names the malformed key.
func ParseTarget(key string) (Target, error) {
	colon := strings.LastIndex(key, ":")
	if colon < 0 {
		return Target{}, fmt.Errorf("target %q has no port: write it as id:port", key)
	}
	port, err := strconv.ParseUint(key[colon+1:], 10, 16)
	if err != nil {
		return Target{}, fmt.Errorf("target %q has a malformed port: %w", key, err)
	}
	id := strings.TrimSuffix(strings.TrimPrefix(key[:colon], "["), "]")
	return Target{ID: id, Port: int32(port)}, nil
}

// TargetStatus is a target as DescribeTargetHealth would list it.
type TargetStatus struct {
	Target Target
	Health Health
}

// Registered tells whether the target is in the group and not on its way out.
func (s TargetStatus) Registered() bool {
	return s.Health.State != types.TargetHealthStateEnumDraining &&
		s.Health.Reason != types.TargetHealthReasonEnumNotRegistered
}

// Health is what ELB reports of one target.
type Health struct {
	State       types.TargetHealthStateEnum
	Reason      types.TargetHealthReasonEnum `json:",omitempty"`
	Description string                       `json:",omitempty"`
}
