package elbsim

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
)

// form reads the parameters of an AWS Query request.
type form struct{ url.Values }

// list reads name.member.1, name.member.2 and so on.
func (f form) list(name string) []string {
	var values []string
	for i := 1; f.Has(member(name, i)); i++ {
		values = append(values, f.Get(member(name, i)))
	}
	return values
}

// targets reads Targets.member.N. A target without a port has the port of the
// group (API reference, RegisterTargets).
func (f form) targets(groupPort int32) []Target {
	var targets []Target
	for i := 1; f.Has(member("Targets", i) + ".Id"); i++ {
		prefix := member("Targets", i)
		port := groupPort
		if f.Has(prefix + ".Port") {
			port = f.number(prefix + ".Port")
		}
		targets = append(targets, Target{f.Get(prefix + ".Id"), port, f.Get(prefix + ".AvailabilityZone")})
	}
	return targets
}

// validTargets reads the targets and refuses an empty list and impossible
// ports.
func (f form) validTargets(groupPort int32) ([]Target, *Error) {
	targets := f.targets(groupPort)
	if len(targets) == 0 {
		return nil, validationError("At least one target must be specified")
	}
	for i, t := range targets {
		if t.Port < 1 || t.Port > 65535 {
			return nil, validationError("1 validation error detected: Value '%d' at 'targets.%d.member.port' failed to satisfy constraint: Member must have value between 1 and 65535", t.Port, i+1)
		}
	}
	return targets, nil
}

func (f form) attributes() []Attribute {
	var attributes []Attribute
	for i := 1; f.Has(member("Attributes", i) + ".Key"); i++ {
		prefix := member("Attributes", i)
		attributes = append(attributes, Attribute{f.Get(prefix + ".Key"), f.Get(prefix + ".Value")})
	}
	return attributes
}

// number is 0 for an absent parameter and -1, which no parameter allows, for a
// malformed one.
func (f form) number(name string) int32 {
	if !f.Has(name) {
		return 0
	}
	n, err := strconv.ParseInt(f.Get(name), 10, 32)
	if err != nil {
		return -1
	}
	return int32(n)
}

func member(name string, i int) string { return name + ".member." + strconv.Itoa(i) }

func keys(targets []Target) []string {
	keys := make([]string, 0, len(targets))
	for _, t := range targets {
		keys = append(keys, t.Key())
	}
	return keys
}

var credential = regexp.MustCompile(`Credential=([^/,\s]+)/`)

// caller is the access key ID in a SigV4 Authorization header.
func caller(r *http.Request) string {
	found := credential.FindStringSubmatch(r.Header.Get("Authorization"))
	if found == nil {
		return "anonymous"
	}
	return found[1]
}
