package elbsim

import (
	"strconv"
	"time"
)

const maxDeregistrationDelay = 3600 // seconds; API reference, TargetGroupAttribute

const (
	crossZone = "load_balancing.cross_zone.enabled"
	allZones  = "all"
)

// crossZoneOff is about the group alone: here it has no load balancer whose
// setting it could have.
func (g *group) crossZoneOff() bool { return g.attributes[crossZone] == "false" }

func (g *group) deregistrationDelay() time.Duration {
	seconds, err := strconv.Atoi(g.attributes[deregistrationDelay])
	if err != nil {
		panic("elbsim: deregistration delay was stored unchecked: " + err.Error())
	}
	return time.Duration(seconds) * time.Second
}

// modifyAttributes sets all the attributes or none. Attributes other than these
// two are kept, but mean nothing here.
func (g *group) modifyAttributes(changes []Attribute) *Error {
	for _, change := range changes {
		if err := g.checkAttribute(change); err != nil {
			return err
		}
	}
	for _, change := range changes {
		g.attributes[change.Key] = change.Value
	}
	return nil
}

// checkAttribute: a group of an Application Load Balancer keeps cross-zone load
// balancing while targets have zone all (user guide, "Cross-zone load
// balancing for target groups"). AWS gives no words for it.
func (g *group) checkAttribute(change Attribute) *Error {
	switch change.Key {
	case deregistrationDelay:
		seconds, err := strconv.Atoi(change.Value)
		if err != nil || seconds < 0 || seconds > maxDeregistrationDelay {
			return badRequest("InvalidConfigurationRequest", "Target group attribute '%s' must be between 0 and %d, not '%s'", change.Key, maxDeregistrationDelay, change.Value)
		}
	case crossZone:
		for _, r := range g.targets {
			if change.Value == "false" && g.isHTTP() && r.target.Zone == allZones {
				return badRequest("InvalidConfigurationRequest", "Target group attribute '%s' cannot be false: target '%s' has Availability Zone 'all'", change.Key, r.target.ID)
			}
		}
	}
	return nil
}

// Attribute is one attribute of a target group.
type Attribute struct {
	Key   string `xml:"Key"`
	Value string `xml:"Value"`
}
