package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/elb"
)

// refusal runs the controller with flags that it must not start with, and
// returns what it says.
func refusal(g *WithT, args ...string) string {
	var stdout, stderr bytes.Buffer
	g.Expect(run(context.Background(), args, &stdout, &stderr)).To(Equal(2))
	g.Expect(stdout.String()).To(BeEmpty())
	return stderr.String()
}

func TestValuesThatCannotBeRead(t *testing.T) {
	for flag, want := range map[string]string{
		"--workers=many":             `--workers: "many" is not a whole number`,
		"--compare-period=5":         `--compare-period: "5" is not a duration such as 30s or 5m`,
		"--leader-elect=maybe":       `--leader-elect: "maybe" is not true or false`,
		"--log-level=loud":           `--log-level: "loud" is not debug, info, warn or error`,
		"--elb-read-rate=10":         `--elb-read-rate: "10" is not RATE:BURST, calls per second and calls at once, such as 5:20`,
		"--elb-mutation-rate=fast:1": `--elb-mutation-rate: "fast:1" is not RATE:BURST, calls per second and calls at once, such as 2:10`,
		"--wokers=1":                 `unknown flag: --wokers; --help lists the flags`,
		"-cluster-id=east":           `unknown flag: -cluster-id=east; flags have two dashes, and --help lists them`,
		"--cluster-id":               `flag needs an argument: --cluster-id`,
	} {
		t.Run(flag, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(refusal(g, flag)).To(Equal("controller: " + want + "\n"))
		})
	}
}

func TestValuesThatCannotBeUsed(t *testing.T) {
	for _, flag := range []string{
		"--cluster-id=", "--cluster-id=a/b",
		"--table=ab", "--table=a b c",
		"--region=europe",
		"--dynamodb-endpoint=localhost:8000", "--elbv2-endpoint=ftp://localhost",
		"--compare-period=9s", "--compare-period=1h1m0s",
		"--history-retention=59m0s", "--history-retention=-1h0m0s", "--history-retention=8761h0m0s",
		"--heartbeat-period=999ms", "--heartbeat-period=1m1s",
		"--elb-read-rate=0:20", "--elb-read-rate=NaN:20", "--elb-read-rate=5:0",
		"--elb-mutation-rate=+Inf:10", "--elb-mutation-rate=2:-1",
		"--workers=0", "--workers=101",
		"--binding-kinds=", "--binding-kinds=Ingress",
		"--metrics-bind-address=", "--metrics-bind-address=8080", "--metrics-bind-address=:70000", "--metrics-bind-address=:http",
		"--health-probe-bind-address=:8080", // the default of the metrics
		"--health-probe-bind-address=::1:8081", "--health-probe-bind-address=a_b:8081",
		"--webhook-bind-address=9443", "--webhook-bind-address=:0", "--webhook-bind-address=:8080", "--webhook-bind-address=:8081",
		"--leader-election-namespace=Kube", "--leader-election-namespace=a.b", "--leader-election-namespace=-a",
		"--leader-election-namespace=" + strings.Repeat("a", 64),
		"--load-balancer-controller-lease=a/b/c",
	} {
		t.Run(flag, func(t *testing.T) {
			g := NewWithT(t)
			name, value, _ := strings.Cut(flag, "=")
			said := strings.Split(strings.TrimSuffix(refusal(g, "--cluster-id=east", flag), "\n"), "\n")
			g.Expect(said).To(HaveLen(2), "a headline and one line for the one flag")
			g.Expect(said[1]).To(HavePrefix(name + ": "))
			g.Expect(said[1]).To(ContainSubstring(value))
		})
	}
}

func TestPageWithoutAServer(t *testing.T) {
	g := NewWithT(t)
	g.Expect(refusal(g, "--cluster-id=east", "--web-view", "--metrics-bind-address=0")).To(ContainSubstring("\n--web-view: "))
}

func TestAllRefusalsAreToldAtOnce(t *testing.T) {
	g := NewWithT(t)
	g.Expect(refusal(g, "--workers=0", "--region=europe")).To(And(
		ContainSubstring("--cluster-id: "), ContainSubstring("--workers: "), ContainSubstring("--region: ")))
}

func TestValuesThatCanBeUsed(t *testing.T) {
	for _, flag := range []string{
		"--region=eu-west-1", "--region=us-gov-east-1",
		"--metrics-bind-address=0", "--metrics-bind-address=:0", "--metrics-bind-address=127.0.0.1:8080",
		"--health-probe-bind-address=[::1]:8081", "--health-probe-bind-address=localhost:8081",
		"--webhook-bind-address=0", "--webhook-bind-address=:9443",
		"--leader-election-namespace=kube-system",
		"--load-balancer-controller-lease=kube-system/aws-load-balancer-controller-leader",
		"--history-retention=0", "--history-retention=8760h",
		"--log-level=debug",
	} {
		t.Run(flag, func(t *testing.T) {
			g := NewWithT(t)
			var s settings
			g.Expect(s.flags().Parse([]string{"--cluster-id=east", flag})).To(Succeed())
			g.Expect(s.validate()).To(Succeed())
		})
	}
}

// Neither "no server" nor "any free port" is an address that two share.
func TestAddressesThatAreAlikeAndDiffer(t *testing.T) {
	for _, address := range []string{"0", ":0", "127.0.0.1:0"} {
		g := NewWithT(t)
		var s settings
		g.Expect(s.flags().Parse([]string{"--cluster-id=east", "--metrics-bind-address=" + address, "--health-probe-bind-address=" + address})).To(Succeed())
		g.Expect(s.validate()).To(Succeed(), address)
	}
}

func TestRates(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want elb.Limits
	}{
		// Half of what AWS grants.
		"default": {nil, elb.Limits{Reads: elb.Limit{PerSecond: 5, Burst: 20}, Mutations: elb.Limit{PerSecond: 2, Burst: 10}}},
		"chosen": {[]string{"--elb-read-rate=10:40", "--elb-mutation-rate=0.5:3"},
			elb.Limits{Reads: elb.Limit{PerSecond: 10, Burst: 40}, Mutations: elb.Limit{PerSecond: 0.5, Burst: 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var s settings
			g.Expect(s.flags().Parse(append(c.args, "--cluster-id=east"))).To(Succeed())
			g.Expect(s.validate()).To(Succeed())
			g.Expect(s.elbLimits).To(Equal(c.want))
		})
	}
}
