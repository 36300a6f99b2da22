package elbsim

import (
	"net/netip"
	"regexp"
)

var instanceID = regexp.MustCompile(`^i-[0-9a-f]+$`)

// admissible checks what may be registered and completes it with what AWS
// fills in. One bad target refuses them all. The messages are those of AWS,
// as reported in kubernetes-sigs/aws-load-balancer-controller#272, #561,
// #1099, #3084 and #3668, and ansible-collections/community.aws#1441.
func (a *account) admissible(g *group, targets []Target) ([]Target, *Error) {
	if g.TargetType == TargetTypeInstance {
		return targets, a.checkInstances(targets)
	}
	completed := make([]Target, 0, len(targets))
	for _, t := range targets {
		if err := g.checkAddress(t); err != nil {
			return nil, err
		}
		if t.Zone == "" {
			t.Zone = a.region + "a" // AWS detects it; here every subnet is in the first zone
		}
		completed = append(completed, t)
	}
	return completed, nil
}

func (a *account) checkInstances(targets []Target) *Error {
	var unknown, notRunning []string
	for _, t := range targets {
		if !instanceID.MatchString(t.ID) {
			return validationError("Instance ID '%s' is not valid", t.ID)
		}
		switch a.instances[t.ID] {
		case InstanceUnknown:
			unknown = append(unknown, t.ID)
		case InstanceNotRunning:
			notRunning = append(notRunning, t.ID)
		}
	}
	if len(unknown) > 0 {
		return invalidTarget("The following instances do not exist", unknown)
	}
	if len(notRunning) > 0 {
		return invalidTarget("The following targets are not in a running state and cannot be registered", notRunning)
	}
	return nil
}

func (g *group) checkAddress(t Target) *Error {
	addr, err := netip.ParseAddr(t.ID)
	switch {
	case g.IPAddressType == IPv4 && (err != nil || !addr.Is4()):
		return validationError("The IP address '%s' is not a valid IPv4 address", t.ID)
	case g.IPAddressType == IPv6 && (err != nil || !addr.Is6()):
		return validationError("The IP address '%s' is not a valid IPv6 address", t.ID)
	case len(g.settings.VPCCIDRs) == 0:
		return nil
	case g.settings.inVPC(addr) && t.Zone == "all":
		return validationError("The IP address '%s' is within the VPC, and cannot have its Availability Zone overridden to 'all'", t.ID)
	case !g.settings.inVPC(addr) && t.Zone == "":
		return validationError("You must specify a valid Availability Zone or select 'all' for all enabled Availability zones, since the IP address '%s' is outside the VPC", t.ID)
	}
	return nil
}
