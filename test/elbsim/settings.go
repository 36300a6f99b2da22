package elbsim

import (
	"net/netip"
	"time"
)

// DefaultQuota is the number of targets that AWS allows in a target group
// unless a higher quota was granted ("targets per target group", ALB and NLB
// user guides, quotas).
const DefaultQuota = 1000

// Settings are the rules of one target group. The zero value is completed
// with DefaultQuota.
type Settings struct {
	// Quota is the number of targets the group may have. RegisterTargets that
	// would exceed it is refused as a whole with TooManyTargets; a target that
	// is present already does not count twice.
	Quota int

	// DrainingCounts makes draining targets count against the quota. Neither
	// the API reference nor the quota pages of the user guides say what AWS
	// does, and no public report was found that settles it. The default is
	// that they do not count, since DeregisterTargets has ended their
	// registration; set it to check that a controller also converges under
	// the stricter reading.
	DrainingCounts bool

	// ZonedDeregistration makes DeregisterTargets overlook a target with zone
	// "all" that is named without it, as one that is not registered. The API
	// reference asks for ID and port only, and no public report says that the
	// zone matters; set it to check that a controller takes its targets out
	// under the stricter reading as well.
	ZonedDeregistration bool

	// InitialFor is how long a target stays initial before it is healthy.
	InitialFor time.Duration

	// Unused makes all targets report unused with the reason
	// Target.NotInUse, as in a group that no load balancer uses.
	Unused bool

	// Tags of the group.
	Tags map[string]string

	// VPCCIDRs are the address ranges of the group's VPC. An IP target outside
	// of them needs an Availability Zone or "all", and a zone if the group is
	// one of an Application Load Balancer with cross-zone load balancing off;
	// one inside of them must not say "all". If empty, every address is
	// accepted with any zone.
	VPCCIDRs []netip.Prefix
}

func (s Settings) withDefaults() Settings {
	if s.Quota == 0 {
		s.Quota = DefaultQuota
	}
	return s
}

// inVPC tells whether the address is in one of the configured ranges.
func (s Settings) inVPC(addr netip.Addr) bool {
	for _, prefix := range s.VPCCIDRs {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// InstanceState is what EC2 would say of an instance.
type InstanceState string

const (
	// InstanceRunning is the state of every instance that was not set otherwise.
	InstanceRunning InstanceState = "running"
	// InstanceNotRunning is a stopped or terminating instance: registering it
	// is refused, and if it is registered it becomes unused.
	InstanceNotRunning InstanceState = "not-running"
	// InstanceUnknown is an instance that does not exist.
	InstanceUnknown InstanceState = "unknown"
)
