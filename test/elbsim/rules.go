package elbsim

import (
	"net/netip"
	"regexp"
)

var instanceID = regexp.MustCompile(`^i-[0-9a-f]+$`)

// admissible checks what may be registered and completes it with what AWS
// fills in. One bad target refuses them all. The messages are those of AWS,
// as reported in kubernetes-sigs/aws-load-balancer-controller#272, #561,
// #1099, #1862, #3084, #3668 and #4496, and ansible-collections/community.aws#1441.
func (a *account) admissible(g *group, targets []Target) ([]Target, *Error) {
	if g.TargetType == TargetTypeInstance {
		return targets, a.checkInstances(targets)
	}
	completed := make([]Target, 0, len(targets))
	for _, t := range targets {
		if err := g.checkAddress(t, a.region+"a"); err != nil {
			return nil, err
		}
		completed = append(completed, g.completeZone(t, a.region+"a"))
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

// checkAddress also has the zone of all subnets.
func (g *group) checkAddress(t Target, zone string) *Error {
	addr, err := netip.ParseAddr(t.ID)
	switch {
	case g.IPAddressType == IPv4 && (err != nil || !addr.Is4()):
		return validationError("The IP address '%s' is not a valid IPv4 address", t.ID)
	case g.IPAddressType == IPv6 && (err != nil || !addr.Is6()):
		return validationError("The IP address '%s' is not a valid IPv6 address", t.ID)
	case len(g.settings.VPCCIDRs) == 0:
		return nil
	case g.settings.inVPC(addr) && t.Zone == allZones:
		return validationError("The IP address '%s' is within the VPC, and cannot have its Availability Zone overridden to 'all' from '%s'", t.ID, zone)
	case g.settings.inVPC(addr):
		return nil
	case g.isHTTP() && g.crossZoneOff() && (t.Zone == "" || t.Zone == allZones):
		return validationError("When cross-zone load balancing is disabled on this target group, you must specify an Availability Zone for IP target '%s' since it is outside of the VPC", t.ID)
	case g.isHTTP() && t.Zone == "":
		return validationError("You must specify a valid Availability Zone or select 'all' for all enabled Availability zones, since the IP address '%s' is outside the VPC", t.ID)
	case t.Zone == "":
		return validationError("The Availability Zone is required for IP address '%s' because it is not in the VPC", t.ID)
	}
	return nil
}

// completeZone fills in the zone that AWS detects, and leaves out one that it
// ignores: groups of Application Load Balancers have zones only while
// cross-zone load balancing is off (API reference, TargetDescription).
func (g *group) completeZone(t Target, detected string) Target {
	addr, _ := netip.ParseAddr(t.ID)
	outside := len(g.settings.VPCCIDRs) > 0 && !g.settings.inVPC(addr)
	switch {
	case outside && g.isHTTP() && !g.crossZoneOff():
		t.Zone = allZones
	case t.Zone == "":
		t.Zone = detected
	}
	return t
}
