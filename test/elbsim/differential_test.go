package elbsim_test

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	"github.com/sivchari/kumo"

	"target-ownership-controller/test/elbsim"
)

// These tests make the same calls to the simulator and to kumo, an emulator
// that nobody here wrote, and compare what the SDK makes of the answers. Where
// the two are known to differ, differences_test.go says so, case by case.

// side is one of the two, with the groups that were made on it.
type side struct {
	elb    *elbv2.Client
	prefix string            // of the real names: all servers of kumo share one store
	arns   map[string]string // by name in the test; deleted groups stay
}

func (s *side) real(name string) *string { return aws.String(s.prefix + name) }

var pairs atomic.Int32

func bothSides(t *testing.T) (simulator, other *side) {
	t.Helper()
	sim := elbsim.New(elbsim.Options{Seed: 1})
	_, err := sim.Start()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(sim.Close)
	emulator := kumo.NewServer()
	t.Cleanup(emulator.Close)
	client := elbv2.New(elbv2.Options{
		Region: "us-east-1", BaseEndpoint: &emulator.URL, Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("test", "secret", ""),
	})
	prefix := fmt.Sprintf("pair-%d-", pairs.Add(1))
	return &side{sim.Client("test"), prefix, map[string]string{}}, &side{client, prefix, map[string]string{}}
}

func TestSimulatorAnswersAsKumo(t *testing.T) {
	tcp := func(in *elbv2.CreateTargetGroupInput) { in.Protocol = types.ProtocolEnumTcp }
	chosen := func(in *elbv2.CreateTargetGroupInput) {
		in.HealthCheckProtocol = types.ProtocolEnumHttps
		in.HealthCheckPath, in.Matcher = aws.String("/ok"), &types.Matcher{HttpCode: aws.String("200-299")}
		in.HealthCheckIntervalSeconds, in.HealthyThresholdCount, in.UnhealthyThresholdCount = aws.Int32(10), aws.Int32(3), aws.Int32(4)
	}
	for name, calls := range map[string][]call{
		"fields of an HTTP group": {create("a", 80), describeByName("a"), describeByARN("a"), tagsOf("a"), drainTime("a")},
		"fields of a TCP group":   {create("a", 80, tcp), describeByName("a")},
		"fields that were chosen": {create("a", 80, chosen), describeByName("a")},
		"instance group": {
			create("a", 80, func(in *elbv2.CreateTargetGroupInput) { in.TargetType = "" }),
			describeByName("a"), register("a", "i-01:30080", "i-02:30080"), healthOf("a"),
		},
		"IPv6 targets": {
			create("a", 80, func(in *elbv2.CreateTargetGroupInput) { in.IpAddressType = types.TargetGroupIpAddressTypeEnumIpv6 }),
			register("a", "[2001:db8::1]:80"), healthOf("a"), noDrain("a"), deregister("a", "[2001:db8::1]:80"), healthOf("a"),
		},
		"name taken": {create("a", 80), create("a", 81), describeByName("a")},
		"register twice, deregister twice": {
			create("a", 80), noDrain("a"), drainTime("a"), register("a", "10.0.0.1:80", "10.0.0.2:80"), register("a", "10.0.0.1:80"), healthOf("a"),
			deregister("a", "10.0.0.1:80"), deregister("a", "10.0.0.1:80"), healthOf("a"), healthOf("a", "10.0.0.1:80", "10.0.0.2:80"),
		},
		"one call, one target twice": {create("a", 80), register("a", "10.0.0.1:80"), register("a", "10.0.0.1:80", "10.0.0.1:80"), healthOf("a")},
		"deleted group": {
			create("a", 80), register("a", "10.0.0.1:80"), destroy("a"),
			register("a", "10.0.0.1:80"), deregister("a", "10.0.0.1:80"), healthOf("a"), drainTime("a"), noDrain("a"), tagsOf("a"),
		},
		"recreated group starts empty": {create("a", 80), register("a", "10.0.0.1:80"), destroy("a"), create("a", 80), healthOf("a")},
	} {
		t.Run(name, func(t *testing.T) {
			simulator, other := bothSides(t)
			if diff := cmp.Diff(run(other, calls), run(simulator, calls)); diff != "" {
				t.Errorf("kumo (-) and simulator (+) differ:\n%s", diff)
			}
		})
	}
}

// TestRandomWalkAnswersAsKumo stays within the ground that both share: one
// port for each address, no drain, deletion of living groups only.
func TestRandomWalkAnswersAsKumo(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			simulator, other := bothSides(t)
			for step, c := range walk(rand.New(rand.NewPCG(seed, 0)), 400) {
				want, got := c.do(other), c.do(simulator)
				if got != want {
					t.Fatalf("step %d, %s: kumo says %q, simulator %q", step, c.name, want, got)
				}
			}
		})
	}
}

func walk(random *rand.Rand, length int) []call {
	names := []string{"a", "b", "c"}
	alive, everMade := map[string]bool{}, map[string]bool{}
	some := func() []string {
		var keys []string
		for len(keys) == 0 {
			for i := range 6 {
				if random.IntN(3) == 0 {
					keys = append(keys, fmt.Sprintf("10.0.0.%d:%d", i, 8000+i))
				}
			}
		}
		return keys
	}
	var calls []call
	for len(calls) < length {
		name := names[random.IntN(len(names))]
		switch pick := random.IntN(20); {
		case !everMade[name] || (pick == 0 && !alive[name]):
			calls = append(calls, create(name, 80), noDrain(name))
			alive[name], everMade[name] = true, true
		case pick == 1 && alive[name]:
			calls = append(calls, destroy(name))
			alive[name] = false
		case pick == 2 && alive[name]:
			calls = append(calls, create(name, 81), describeByName(name), describeByARN(name), tagsOf(name))
		case pick < 9:
			calls = append(calls, register(name, some()...), healthOf(name))
		case pick < 15:
			calls = append(calls, deregister(name, some()...), healthOf(name))
		default:
			calls = append(calls, healthOf(name, some()...))
		}
	}
	return calls
}
