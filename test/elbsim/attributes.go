package elbsim

import (
	"strconv"
	"time"
)

const maxDeregistrationDelay = 3600 // seconds; API reference, TargetGroupAttribute

func (g *group) deregistrationDelay() time.Duration {
	seconds, err := strconv.Atoi(g.attributes[deregistrationDelay])
	if err != nil {
		panic("elbsim: deregistration delay was stored unchecked: " + err.Error())
	}
	return time.Duration(seconds) * time.Second
}

// modifyAttributes sets all the attributes or none. Attributes other than the
// deregistration delay are kept, but mean nothing here.
func (g *group) modifyAttributes(changes []Attribute) *Error {
	for _, change := range changes {
		if change.Key != deregistrationDelay {
			continue
		}
		seconds, err := strconv.Atoi(change.Value)
		if err != nil || seconds < 0 || seconds > maxDeregistrationDelay {
			return badRequest("InvalidConfigurationRequest", "Target group attribute '%s' must be between 0 and %d, not '%s'", change.Key, maxDeregistrationDelay, change.Value)
		}
	}
	for _, change := range changes {
		g.attributes[change.Key] = change.Value
	}
	return nil
}

// Attribute is one attribute of a target group.
type Attribute struct {
	Key   string `xml:"Key"`
	Value string `xml:"Value"`
}
