package elbsim_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/test/elbsim"
)

// control posts to the control API and returns the body of a refusal.
func (b *bench) control(verb, argument string) string {
	resp, err := http.Post(b.URL()+"/control/"+verb, "application/json", strings.NewReader(argument))
	b.Expect(err).NotTo(HaveOccurred())
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	b.Expect(err).NotTo(HaveOccurred())
	if resp.StatusCode == http.StatusNoContent {
		return ""
	}
	b.Expect(resp.StatusCode).To(Equal(http.StatusBadRequest))
	return strings.TrimSpace(string(body))
}

func TestControlFaults(t *testing.T) {
	for argument, want := range map[string]string{
		`{"error":"throttle"}`:                              "Throttling",
		`{"error":"deny","group":"web"}`:                    "AccessDenied",
		`{"error":"unavailable","caller":"cluster-a"}`:      "ServiceUnavailable",
		`{"error":"failure","for":"1m"}`:                    "InternalFailure",
		`{"dropReply":true,"times":1}`:                      noAnswer,
		`{"late":true,"lateBy":"1m"}`:                       noAnswer,
		`{"error":"deny","caller":"cluster-b"}`:             "",
		`{"error":"deny","action":"DeregisterTargets"}`:     "",
		`{"latency":"1ms","action":"RegisterTargets"}`:      "",
		`{"error":"throttle","chance":1e-300,"latency":""}`: "400",
	} {
		t.Run(argument, func(t *testing.T) {
			b := newBench(t)
			refused := b.control("fault", argument)
			if want == "400" {
				b.Expect(refused).To(ContainSubstring("invalid duration"))
				return
			}
			b.Expect(refused).To(BeEmpty())
			b.Expect(code(b.register(target))).To(Equal(want))
			b.Expect(b.control("clear", "{}")).To(BeEmpty())
			b.Expect(b.register(target)).To(Succeed())
		})
	}
}

func TestControlLand(t *testing.T) {
	b := newBench(t)
	b.Expect(b.control("fault", `{"late":true,"times":1}`)).To(BeEmpty())
	b.Expect(code(b.register(target))).To(Equal(noAnswer))
	b.Expect(b.Targets(b.arn)).To(BeEmpty())
	b.Expect(b.control("land", "{}")).To(BeEmpty())
	b.Expect(b.Registered(b.arn)).To(Equal([]string{target}))
}

func TestControlHealthInstanceAndSettings(t *testing.T) {
	b := newBench(t, instances)
	b.Expect(b.register("i-01:80")).To(Succeed())
	b.Expect(b.control("health", `{"group":"web","target":"i-01:80","state":"unhealthy"}`)).To(BeEmpty())
	b.Expect(b.health()).To(Equal(map[string]string{"i-01:80": unhealthy}))
	b.Expect(b.control("instance", `{"id":"i-02","state":"not-running"}`)).To(BeEmpty())
	b.Expect(code(b.register("i-02:80"))).To(Equal("InvalidTarget"))
	b.Expect(b.control("settings", `{"group":"web","initialFor":"5s"}`)).To(BeEmpty())
	b.Expect(b.control("settings", `{"quota":2,"vpcCIDRs":["10.0.0.0/8"]}`)).To(BeEmpty())
	b.Expect(b.register("i-03:80")).To(Succeed())
	b.Expect(b.health("i-03:80")).To(Equal(map[string]string{"i-03:80": initial}), "a later setting leaves the others alone")
	b.Expect(code(b.register("i-04:80"))).To(Equal("TooManyTargets"))
}

func TestControlRefusesWhatItDoesNotUnderstand(t *testing.T) {
	b := newBench(t)
	for _, tc := range []struct{ verb, argument, want string }{
		{"fault", `{"eror":"throttle"}`, "unknown field"},
		{"fault", `{"error":"slow"}`, `error "slow": choose throttle, deny, unavailable or failure`},
		{"fault", `{"action":"Register"}`, `action "Register" is not simulated`},
		{"fault", `{"group":"wbe"}`, `no target group "wbe"`},
		{"health", `{"group":"web","target":"10.0.0.1:80","state":"healthy"}`, "not registered"},
		{"health", `{"group":"web","target":"10.0.0.1","state":"healthy"}`, "has no port"},
		{"instance", `{"id":"i-1","state":"dead"}`, `instance state "dead"`},
		{"settings", `{"group":"wbe"}`, `no target group "wbe"`},
		{"land", `now`, "invalid character"},
	} {
		b.Expect(b.control(tc.verb, tc.argument)).To(ContainSubstring(tc.want))
	}
}

func TestOverview(t *testing.T) {
	b := newBench(t)
	b.Expect(b.register("10.0.0.1:80", "10.0.0.2:80")).To(Succeed())
	b.clock.advance(time.Second)
	b.Expect(b.deregister("10.0.0.2:80")).To(Succeed())

	resp, err := http.Get(b.URL())
	b.Expect(err).NotTo(HaveOccurred())
	defer resp.Body.Close()
	var got struct {
		Groups []struct {
			Name, ARN string
			Targets   map[string]elbsim.Health
		}
		Calls map[string]map[string]int
	}
	b.Expect(json.NewDecoder(resp.Body).Decode(&got)).To(Succeed())
	b.Expect(got.Groups).To(HaveLen(1))
	b.Expect(got.Groups[0].Name).To(Equal("web"))
	b.Expect(got.Groups[0].ARN).To(Equal(b.arn))
	b.Expect(got.Groups[0].Targets).To(HaveLen(2))
	b.Expect(got.Groups[0].Targets["10.0.0.1:80"]).To(Equal(elbsim.Health{State: "healthy"}))
	b.Expect(got.Groups[0].Targets["10.0.0.2:80"].Reason).To(BeEquivalentTo("Target.DeregistrationInProgress"))
	b.Expect(got.Calls).To(Equal(map[string]map[string]int{"cluster-a": {"RegisterTargets": 1, "DeregisterTargets": 1}}))
}

func TestStartOnATakenPortFails(t *testing.T) {
	b := newBench(t)
	port := b.URL()[strings.LastIndex(b.URL(), ":")+1:]
	number, err := strconv.Atoi(port)
	b.Expect(err).NotTo(HaveOccurred())
	second := elbsim.New(elbsim.Options{Port: number})
	_, err = second.Start()
	b.Expect(err).To(MatchError(ContainSubstring("127.0.0.1:" + port)))
	second.Close()
}

func TestParseTargetReadsKeys(t *testing.T) {
	g := NewWithT(t)
	for key, want := range map[string]elbsim.Target{
		"10.0.0.5:8080":      {ID: "10.0.0.5", Port: 8080},
		"[2001:db8::5]:8080": {ID: "2001:db8::5", Port: 8080},
		"i-0abc:30080":       {ID: "i-0abc", Port: 30080},
	} {
		got, err := elbsim.ParseTarget(key)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got).To(Equal(want))
		g.Expect(got.Key()).To(Equal(key))
	}
	for _, key := range []string{"10.0.0.5", "10.0.0.5:http", "10.0.0.5:65536"} {
		_, err := elbsim.ParseTarget(key)
		g.Expect(err).To(MatchError(ContainSubstring(key)))
	}
}
