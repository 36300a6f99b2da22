package elb_test

import (
	"context"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/smithy-go"
	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
)

func validationError(message string) error {
	return &smithy.GenericAPIError{Code: "ValidationError", Message: message}
}

// outsideWords are what AWS says, by what and when, of an address that is
// outside the VPC and comes without a zone.
var outsideWords = map[string]string{
	"network":           "The Availability Zone is required for IP address 'IP' because it is not in the VPC",
	"application":       "You must specify a valid Availability Zone or select 'all' for all enabled Availability zones, since the IP address 'IP' is outside the VPC",
	"application, once": "The Availability Zone for IP address 'IP' must be 'all' for Application Load Balancer target groups, when not within the VPC",
}

// vpc refuses what AWS refuses in a group of a VPC with these subnets.
func vpc(outside string, subnets ...string) func(context.Context, call) error {
	return func(_ context.Context, c call) error {
		for i, zone := range c.zones {
			address := netip.MustParseAddrPort(c.targets[i]).Addr()
			inside := slices.ContainsFunc(subnets, func(s string) bool { return netip.MustParsePrefix(s).Contains(address) })
			switch {
			case inside && zone == "all":
				return validationError("The IP address '" + address.String() + "' is within the VPC, and cannot have its Availability Zone overridden to 'all' from 'eu-west-1a'")
			case !inside && zone == "":
				return validationError(strings.ReplaceAll(outside, "IP", address.String()))
			}
		}
		return nil
	}
}

func TestRegisterOutsideTheVPC(t *testing.T) {
	for name, words := range outsideWords {
		t.Run(name, func(t *testing.T) {
			g, api := NewWithT(t), newFake()
			api.before = vpc(words, "10.9.0.0/16")
			client, targets := elb.New(api, elb.Options{Limits: roomy}), addresses(150)
			result := client.Register(context.Background(), admit(t, targets))
			g.Expect(result.Done).To(Equal(targets))
			g.Expect(result.Refused).To(BeEmpty())
			g.Expect(api.sizes()).To(Equal([]int{150, 150}), "one refusal, once")
			g.Expect(api.calls[1].zones).To(HaveEach("all"))

			// What is next to a known one is outside, too; what is not is asked of AWS.
			neighbours := []ownership.Target{"10.0.100.15:8080", "10.0.100.2:9090"}
			g.Expect(client.Register(context.Background(), admit(t, neighbours)).Done).To(Equal(neighbours))
			g.Expect(api.sizes()).To(Equal([]int{150, 150, 2}))
			g.Expect(client.Register(context.Background(), admit(t, []ownership.Target{"10.0.200.1:8080"})).Done).To(HaveLen(1))
			g.Expect(api.sizes()).To(Equal([]int{150, 150, 2, 1, 1}))

			_, removal := permits(t, nil, targets)
			g.Expect(client.Deregister(context.Background(), removal).Done).To(Equal(targets))
			g.Expect(api.calls[5].zones).To(HaveEach("all"))
			g.Expect(api.calls).To(HaveLen(6))
		})
	}
}

// The smallest subnet has 16 addresses: no guess reaches beyond.
func TestZonesOfNeighbouringSubnets(t *testing.T) {
	g, api := NewWithT(t), newFake()
	api.before = vpc(outsideWords["network"], "10.0.100.16/28")
	client := elb.New(api, elb.Options{Limits: roomy})
	client.Register(context.Background(), admit(t, []ownership.Target{"10.0.100.15:8080"}))
	g.Expect(api.calls).To(HaveLen(2))
	both := []ownership.Target{"10.0.100.0:8080", "10.0.100.16:8080"}
	g.Expect(client.Register(context.Background(), admit(t, both)).Done).To(Equal(both))
	g.Expect(api.calls).To(HaveLen(3))
	g.Expect(api.calls[2].zones).To(Equal([]string{"all", ""}))
}

func TestZonesOfIPv6(t *testing.T) {
	g, api := NewWithT(t), newFake()
	api.before = vpc(outsideWords["network"], "2001:db8:1::/64")
	client := elb.New(api, elb.Options{Limits: roomy})
	outside := []ownership.Target{"[2001:db8:1:1::5]:8080"}
	g.Expect(client.Register(context.Background(), admit(t, outside)).Done).To(Equal(outside))
	g.Expect(api.calls).To(HaveLen(2))
	more := []ownership.Target{"[2001:db8:1:1:ffff::6]:8080", "[2001:db8:1::5]:8080"}
	g.Expect(client.Register(context.Background(), admit(t, more)).Done).To(Equal(more))
	g.Expect(api.calls).To(HaveLen(3))
	g.Expect(api.calls[2].zones).To(Equal([]string{"all", ""}))
}

// Targets on both sides of the border go in with few calls, and the next time
// with one.
func TestRegisterInsideAndOutsideAtOnce(t *testing.T) {
	g, api := NewWithT(t), newFake()
	api.before = vpc(outsideWords["network"], "10.0.100.0/24")
	client, targets := elb.New(api, elb.Options{Limits: roomy}), addresses(500) // 250 of them inside
	for left := targets; len(left) > 0; {
		result := client.Register(context.Background(), admit(t, left))
		g.Expect(result.Done).NotTo(BeEmpty(), "every batch makes progress")
		left = slices.DeleteFunc(slices.Clone(left), func(t ownership.Target) bool { return result.Refused[t] == nil })
	}
	g.Expect(api.targets).To(HaveLen(500))
	g.Expect(len(api.calls)).To(BeNumerically("<=", 30))

	api.calls = nil
	g.Expect(client.Register(context.Background(), admit(t, targets)).Done).To(HaveLen(500))
	g.Expect(api.sizes()).To(Equal([]int{200, 200, 100}))
}

// Nothing is learnt of a refused call.
func TestRegisterOneOutsideAmongOthers(t *testing.T) {
	g, api := NewWithT(t), newFake()
	api.before = vpc(outsideWords["network"], "10.0.101.0/24")
	targets := []ownership.Target{"10.0.100.1:80", "10.0.101.1:80", "10.0.101.20:80", "10.0.101.21:80"}
	g.Expect(register(t, api, targets).Done).To(Equal(targets))
	g.Expect(api.sizes()).To(Equal([]int{4, 4, 2, 2, 1, 1, 1, 2}))
}

func TestZonesAreNotTriedForAnythingElse(t *testing.T) {
	g, api := NewWithT(t), newFake()
	api.before = always(validationError("The IP address '10.0.100.1' is not a valid IPv6 address"))
	g.Expect(register(t, api, addresses(1)).Refused).To(HaveLen(1))
	g.Expect(api.calls).To(HaveLen(1))
}

// A subnet can come to the VPC, and leave it.
func TestZonesAreLearntAnew(t *testing.T) {
	g, api := NewWithT(t), newFake()
	client, targets := elb.New(api, elb.Options{Limits: roomy}), addresses(5)
	for i, subnets := range [][]string{{}, {"10.0.100.0/24"}, {}} {
		api.calls, api.before = nil, vpc(outsideWords["network"], subnets...)
		g.Expect(client.Register(context.Background(), admit(t, targets)).Done).To(Equal(targets), strconv.Itoa(i))
		g.Expect(api.calls).To(HaveLen(2))
		api.calls = nil
		g.Expect(client.Register(context.Background(), admit(t, targets)).Done).To(Equal(targets))
		g.Expect(api.calls).To(HaveLen(1))
	}
}

// What is listed with zone all is deregistered with it, by a new process too.
func TestZonesAreLearntFromTheListing(t *testing.T) {
	for zone, sent := range map[string]string{"all": "all", "eu-west-1a": "", "": ""} {
		t.Run(zone, func(t *testing.T) {
			g, api := NewWithT(t), newFake()
			targets := addresses(3)
			api.zone = zone
			for _, target := range targets {
				api.targets[string(target)] = "healthy"
			}
			client := elb.New(api, elb.Options{Limits: roomy})
			_, err := client.Targets(context.Background(), arn)
			g.Expect(err).NotTo(HaveOccurred())
			_, removal := permits(t, nil, targets)
			g.Expect(client.Deregister(context.Background(), removal).Done).To(Equal(targets))
			g.Expect(api.calls[1].zones).To(HaveEach(sent))
			g.Expect(api.targets).To(BeEmpty())
		})
	}
}

// A refusal of the zone is one for deregistrations as well, should AWS make it.
func TestDeregisterOutsideTheVPC(t *testing.T) {
	g, api := NewWithT(t), newFake()
	api.before = vpc(outsideWords["application"])
	targets := addresses(3)
	_, removal := permits(t, nil, targets)
	g.Expect(elb.New(api, elb.Options{Limits: roomy}).Deregister(context.Background(), removal).Done).To(Equal(targets))
	g.Expect(api.calls).To(HaveLen(2))
}

// Groups do not share what is known: each has a VPC of its own.
func TestZonesAreOfOneGroup(t *testing.T) {
	g, api := NewWithT(t), newFake()
	api.zone = "all"
	api.targets["10.0.100.1:8080"] = "healthy"
	client := elb.New(api, elb.Options{Limits: roomy})
	_, err := client.Targets(context.Background(), arn[:len(arn)-1]+"0")
	g.Expect(err).NotTo(HaveOccurred())
	client.Register(context.Background(), admit(t, addresses(1)))
	g.Expect(api.calls[1].zones).To(Equal([]string{""}))
}

func TestRegisterOutsideWithCrossZoneOff(t *testing.T) {
	g, api := NewWithT(t), newFake()
	words := "When cross-zone load balancing is disabled on this target group, you must specify an Availability Zone for IP target '10.0.100.1' since it is outside of the VPC"
	api.before = always(validationError(words))
	targets := addresses(1)
	result := register(t, api, targets)
	g.Expect(result.Refused[targets[0]]).To(MatchError(elb.ErrCrossZoneOff))
	g.Expect(result.Refused[targets[0]]).To(MatchError(ownership.ErrInvalidTarget))
	g.Expect(result.Refused[targets[0]]).To(MatchError("the load balancer refuses the target, which is outside the VPC of the group: ValidationError: " + words))
	g.Expect(api.calls).To(HaveLen(1), "zone all is refused, too")
}

// The second answer counts: it is about a target with the right zone.
func TestRegisterOutsideAndBadForAnotherReason(t *testing.T) {
	for name, second := range map[string]error{"invalid": validationError("The IP address '10.0.100.1' is not valid"), "lost": answered(500, "InternalFailure")} {
		t.Run(name, func(t *testing.T) {
			g, api := NewWithT(t), newFake()
			api.before = func(_ context.Context, c call) error {
				if c.zones[0] == "" {
					return validationError(outsideWords["network"])
				}
				return second
			}
			targets := addresses(1)
			result := register(t, api, targets)
			g.Expect(result.Done).To(BeEmpty())
			if name == "lost" {
				g.Expect(result.Unsure[targets[0]]).To(MatchError(ownership.ErrGroupUnavailable))
			} else {
				g.Expect(result.Refused[targets[0]]).To(MatchError(second))
			}
			g.Expect(api.calls).To(HaveLen(2))
		})
	}
}
