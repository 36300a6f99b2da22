package ownership

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// Target is the canonical key of one target of a target group: an address or
// an instance, and a port. Its forms are 10.0.0.5:8080, [2001:db8::5]:8080
// and i-0abc:30080. The availability zone is no part of it, since a group
// holds an address and port once, whatever the zone.
//
// The zero Target is not valid. Build one with [NewTarget] or [ParseTarget].
type Target string

// instanceID matches EC2 instance IDs, "i-" and hexadecimal digits
// (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/resource-ids.html).
var instanceID = regexp.MustCompile(`^i-[0-9a-f]{1,32}$`)

// NewTarget returns the canonical target for an IP address or an EC2 instance
// ID and a port from 1 to 65535. An IPv4 address in IPv6 form becomes IPv4.
// An address with a zone is refused: it means something on one host only.
func NewTarget(id string, port int) (Target, error) {
	if port < 1 || port > 65535 {
		return "", fmt.Errorf("target %q: port %d is not in 1 to 65535", id, port)
	}
	if instanceID.MatchString(id) {
		return Target(id + ":" + strconv.Itoa(port)), nil
	}
	addr, err := netip.ParseAddr(id)
	if err != nil || addr.Zone() != "" {
		return "", fmt.Errorf("target %q: neither an IP address nor an instance ID such as i-0abc", id)
	}
	return Target(netip.AddrPortFrom(addr.Unmap(), uint16(port)).String()), nil
}

// ParseTarget reads a target from its canonical form and refuses every other
// form, so that one target never has two keys.
func ParseTarget(s string) (Target, error) {
	colon := strings.LastIndexByte(s, ':')
	if colon < 0 {
		return "", fmt.Errorf("target %q: no port", s)
	}
	port, err := strconv.Atoi(s[colon+1:])
	if err != nil {
		return "", fmt.Errorf("target %q: port is not a number", s)
	}
	id := strings.TrimSuffix(strings.TrimPrefix(s[:colon], "["), "]")
	t, err := NewTarget(id, port)
	if err != nil {
		return "", err
	}
	if string(t) != s {
		return "", fmt.Errorf("target %q: the canonical form is %q", s, t)
	}
	return t, nil
}

// ID returns the address, without brackets, or the instance ID.
func (t Target) ID() string {
	id := string(t[:strings.LastIndexByte(string(t), ':')])
	return strings.TrimSuffix(strings.TrimPrefix(id, "["), "]")
}

// Port returns the port, 1 to 65535.
func (t Target) Port() int {
	port, _ := strconv.Atoi(string(t[strings.LastIndexByte(string(t), ':')+1:]))
	return port
}

// Spread compares two targets by a hash. Who can have only some of many takes
// the first ones in this order, so that the choice is always the same and
// favours no subnet or zone, as an order by address would.
func Spread(a, b Target) int {
	return cmp.Or(cmp.Compare(hash(a), hash(b)), cmp.Compare(a, b))
}

// hash is FNV-1a.
func hash(t Target) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(t) {
		h = (h ^ uint64(t[i])) * 1099511628211
	}
	return h
}

// Set is a set of targets.
type Set map[Target]bool
