package elb

import (
	"errors"
	"net/netip"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"k8s.io/utils/lru"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/awserror"
)

// allZones is the zone that AWS wants of an address outside the group's VPC,
// and refuses for one inside, whose zone it detects
// (https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_TargetDescription.html).
const allZones = "all"

// outsiders are the addresses that are known to be outside the VPC of a group.
// It is AWS that says so, by what it refuses and lists: it goes by the subnets
// there are, which may be fewer than the CIDR blocks of the VPC
// (kubernetes-sigs/aws-load-balancer-controller#3714), and by the VPC of the
// group, which other accounts may share (#4089 there). What is forgotten costs
// a refused call.
type outsiders struct{ blocks *lru.Cache } // of nothing, by block

// maxOutsiders bounds the memory, to some MB.
const maxOutsiders = 10_000

func newOutsiders() outsiders { return outsiders{lru.New(maxOutsiders)} }

// block is what lies in one subnet or in none, for a subnet is as large or
// larger (https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html).
type block struct {
	group     ownership.GroupARN
	addresses netip.Prefix
}

// blockOf returns false for an instance.
func blockOf(group ownership.GroupARN, id string) (block, bool) {
	address, err := netip.ParseAddr(id)
	if err != nil {
		return block{}, false
	}
	bits := 64
	if address.Is4() {
		bits = 28
	}
	addresses, err := address.Prefix(bits)
	return block{group, addresses}, err == nil
}

// describe returns the targets as they are sent, with the zones that are known.
func (o outsiders) describe(group ownership.GroupARN, targets []ownership.Target) []types.TargetDescription {
	described := make([]types.TargetDescription, len(targets))
	for i, t := range targets {
		described[i] = types.TargetDescription{Id: aws.String(t.ID()), Port: aws.Int32(int32(t.Port()))}
		if b, ok := blockOf(group, t.ID()); !ok {
			continue
		} else if _, outside := o.blocks.Get(b); outside {
			described[i].AvailabilityZone = aws.String(allZones)
		}
	}
	return described
}

// learn takes in what AWS accepted, or listed.
func (o outsiders) learn(group ownership.GroupARN, targets ...types.TargetDescription) {
	for _, t := range targets {
		b, ok := blockOf(group, aws.ToString(t.Id))
		switch {
		case !ok:
		case aws.ToString(t.AvailabilityZone) == allZones:
			o.blocks.Add(b, nil)
		default:
			o.blocks.Remove(b)
		}
	}
}

// otherZone gives zone all to all the targets if some lacked it, else none to
// any: as a rule they are all outside the VPC, or all inside.
func otherZone(targets []types.TargetDescription) {
	var zone *string
	for _, t := range targets {
		if t.AvailabilityZone == nil {
			zone = aws.String(allZones)
		}
	}
	for i := range targets {
		targets[i].AvailabilityZone = zone
	}
}

// ofZone reports whether the zone of some target is refused. The words of AWS
// differ by the kind of load balancer and over the years, but for these two
// (kubernetes-sigs/aws-load-balancer-controller#561, #1569, #3084, #3714).
func (f *failure) ofZone() bool {
	return f != nil && errors.Is(f.class, ownership.ErrInvalidTarget) && !errors.Is(f.class, ErrCrossZoneOff) &&
		strings.Contains(awserror.Text(f.cause), "Availability Zone")
}
