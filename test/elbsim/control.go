package elbsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

// routes are the SDK endpoint, a read-only overview at GET /, and a control
// API for processes that cannot call the Go methods. Each control takes a JSON
// object by POST and names a group by ARN or name; times are Go durations.
//
//	/control/fault     {"action","caller","group","times","for","chance",
//	                    "latency","error","dropReply","late","lateBy"}
//	                   error: throttle, deny, unavailable or failure
//	/control/clear     {} removes all faults made here
//	/control/land      {} lands all late calls
//	/control/health    {"group","target","state"}
//	/control/instance  {"id","state"}
//	/control/settings  {"group","quota","drainingCounts","initialFor","unused","vpcCIDRs"}
//	                   without a group: all groups
func (s *Simulator) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{$}", s.serveAction)
	mux.HandleFunc("GET /{$}", s.serveOverview)
	mux.HandleFunc("POST /control/fault", control(s.controlFault))
	mux.HandleFunc("POST /control/clear", control(func(empty) error { s.ClearRules(); return nil }))
	mux.HandleFunc("POST /control/land", control(func(empty) error { s.Land(); return nil }))
	mux.HandleFunc("POST /control/health", control(s.controlHealth))
	mux.HandleFunc("POST /control/instance", control(s.controlInstance))
	mux.HandleFunc("POST /control/settings", control(s.controlSettings))
	return mux
}

// control decodes the argument strictly: a misspelt field is an error, not a
// fault that silently never happens.
func control[T any](apply func(T) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var argument T
		decoder := json.NewDecoder(r.Body)
		decoder.DisallowUnknownFields()
		err := decoder.Decode(&argument)
		if err == nil {
			err = apply(argument)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// duration reads "1.5s" in JSON.
type duration time.Duration

func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = duration(parsed)
	return err
}

type faultArgument struct {
	Action, Caller, Group string
	Times                 int
	For                   duration
	Chance                float64
	Latency               duration
	Error                 string
	DropReply, Late       bool
	LateBy                duration
}

func (s *Simulator) controlFault(f faultArgument) error {
	rule := Rule{
		Action: f.Action, Caller: f.Caller, Times: f.Times, For: time.Duration(f.For), Chance: f.Chance,
		Fault: Fault{Latency: time.Duration(f.Latency), DropReply: f.DropReply, Late: f.Late, LateBy: time.Duration(f.LateBy)},
	}
	switch f.Error {
	case "":
	case "throttle":
		rule.Fault.Refuse = Throttled()
	case "deny":
		rule.Fault.Refuse = AccessDenied()
	case "unavailable":
		rule.Fault.Refuse = Unavailable()
	case "failure":
		rule.Fault.Refuse = InternalFailure()
	default:
		return fmt.Errorf("error %q: choose throttle, deny, unavailable or failure", f.Error)
	}
	if _, known := actions[f.Action]; f.Action != "" && !known {
		return fmt.Errorf("action %q is not simulated", f.Action)
	}
	if f.Group != "" {
		arn, err := s.resolve(f.Group)
		if err != nil {
			return err
		}
		rule.Group = arn
	}
	s.Inject(rule)
	return nil
}

func (s *Simulator) controlHealth(h struct{ Group, Target, State string }) error {
	arn, err := s.resolve(h.Group)
	if err != nil {
		return err
	}
	return s.SetHealth(arn, h.Target, types.TargetHealthStateEnum(h.State))
}

func (s *Simulator) controlInstance(i struct {
	ID    string
	State InstanceState
}) error {
	switch i.State {
	case InstanceRunning, InstanceNotRunning, InstanceUnknown:
		s.SetInstance(i.ID, i.State)
		return nil
	}
	return fmt.Errorf("instance state %q: choose %s, %s or %s", i.State, InstanceRunning, InstanceNotRunning, InstanceUnknown)
}

type settingsArgument struct {
	Group                  string
	Quota                  *int
	DrainingCounts, Unused *bool
	InitialFor             *duration
	VPCCIDRs               *[]netip.Prefix
}

func (s *Simulator) controlSettings(a settingsArgument) error {
	change := func(settings *Settings) {
		replace(&settings.Quota, a.Quota)
		replace(&settings.DrainingCounts, a.DrainingCounts)
		replace(&settings.Unused, a.Unused)
		replace(&settings.InitialFor, (*time.Duration)(a.InitialFor))
		replace(&settings.VPCCIDRs, a.VPCCIDRs)
	}
	if a.Group == "" {
		s.Configure(change)
		return nil
	}
	arn, err := s.resolve(a.Group)
	if err != nil {
		return err
	}
	return s.ConfigureGroup(arn, change)
}

func replace[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// resolve takes the ARN or the name of a group.
func (s *Simulator) resolve(group string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, found := s.account.groups[group]; found {
		return group, nil
	}
	if g := s.account.groupNamed(group); g != nil {
		return g.ARN, nil
	}
	return "", fmt.Errorf("no target group %q", group)
}
