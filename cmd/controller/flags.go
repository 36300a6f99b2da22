package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"go.uber.org/zap/zapcore"

	"target-ownership-controller/cmd/internal/awsconfig"
	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/kind"
)

// settings are what the flags say.
type settings struct {
	clusterID string
	awsconfig.Site

	elbLimits elb.Limits

	comparePeriod   time.Duration
	heartbeatPeriod time.Duration
	history         time.Duration // 0 for none
	workers         int
	bindingKinds    []string
	fromAnnotations bool
	readinessGates  bool
	allowedGroups   string // file

	webhookAddress string
	metricsAddress string
	webView        bool
	probeAddress   string
	namespace      string // of the controller
	leaderElection bool
	lbcLeases      []string

	traces traceSettings

	logLevel zapcore.Level
	version  bool
}

func (s *settings) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("controller", pflag.ContinueOnError)
	f.SortFlags = false
	f.StringVar(&s.clusterID, "cluster-id", "", "name of this cluster in the ownership table; unique among the clusters that share it, and never changed (required)")
	s.Bind(f)
	s.elbLimits = elb.DefaultLimits
	f.Var((*rateFlag)(&s.elbLimits.Reads), "elb-read-rate", "Describe calls per second and at once, as RATE:BURST, of the 10:40 that AWS grants an account in a region by default")
	f.Var((*rateFlag)(&s.elbLimits.Mutations), "elb-mutation-rate", "RegisterTargets and DeregisterTargets calls per second and at once, as RATE:BURST, of the 4:20 that AWS grants an account in a region by default")
	f.DurationVar(&s.comparePeriod, "compare-period", 5*time.Minute, "how often each binding's record is compared with its target group, between 10s and 1h")
	f.DurationVar(&s.heartbeatPeriod, "heartbeat-period", cluster.DefaultHeartbeatInterval, "how often this cluster shows in the table that it is alive, between 1s and 1m")
	f.DurationVar(&s.history, "history-retention", 7*24*time.Hour, "how long the table keeps what was done to targets and why, between 1h and 8760h; 0 writes no history")
	f.StringSliceVar(&s.bindingKinds, "binding-kinds", []string{kind.TargetGroupBinding.Name}, "kinds of bindings to work on: TargetGroupBinding, for which the AWS Load Balancer Controller must not run; SharedTargetGroupBinding, beside it; or both")
	f.BoolVar(&s.fromAnnotations, "bindings-from-annotations", false, "create, update and delete bindings, of the first kind of --binding-kinds, for Services and Ingresses whose annotations name target groups")
	f.BoolVar(&s.readinessGates, "readiness-gates", false, "let Pods with readiness gates of bindings wait until the load balancer finds their targets healthy; reads all Pods of the cluster")
	f.StringVar(&s.webhookAddress, "webhook-bind-address", "0", "address of the webhooks, by which new bindings get what their target group says and, with --readiness-gates, new Pods their gates; 0 turns them off")
	f.StringVar(&s.allowedGroups, "allowed-groups", "", "file with rules of which namespaces may bind which target groups, followed while it runs; default: all may bind all")
	f.IntVar(&s.workers, "workers", 10, "how many bindings of a kind are worked on at once, 1 to 100")
	f.StringVar(&s.metricsAddress, "metrics-bind-address", ":8080", "address of the Prometheus metrics; 0 turns them off")
	f.BoolVar(&s.webView, "web-view", false, "serve a page at /web/ of the metrics address that shows, read-only and to whoever can reach it, who owns which targets")
	f.StringVar(&s.probeAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0 turns them off")
	f.BoolVar(&s.leaderElection, "leader-elect", true, "run only while holding the leader lease; needed with more than one replica")
	f.StringVar(&s.namespace, "leader-election-namespace", "", "namespace of the leader lease, and of the Secret with the certificate of the webhooks; default: the namespace that the controller runs in")
	f.StringSliceVar(&s.lbcLeases, "load-balancer-controller-lease", []string{cluster.LoadBalancerControllerLease.Name}, "NAME or NAMESPACE/NAME of each lease that shows the AWS Load Balancer Controller to be running in this cluster")
	s.traces.bind(f)
	f.Var((*levelFlag)(&s.logLevel), "log-level", "debug, info, warn or error")
	f.BoolVar(&s.version, "version", false, "print the version and exit")
	return f
}

type levelFlag zapcore.Level

func (l *levelFlag) String() string { return zapcore.Level(*l).String() }
func (l *levelFlag) Type() string   { return "level" }
func (l *levelFlag) Set(s string) error {
	level, err := zapcore.ParseLevel(s)
	if err != nil || level > zapcore.ErrorLevel {
		return fmt.Errorf("%q is not debug, info, warn or error", s)
	}
	*l = levelFlag(level)
	return nil
}

// unreadable says what a flag takes whose value could not be read, and what to
// do about a flag that there is not. Other errors stay as they are.
func unreadable(err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if oneDash := unknown.GetSpecifiedShortnames(); oneDash != "" {
			return fmt.Errorf("unknown flag: -%s; flags have two dashes, and --help lists them", oneDash)
		}
		return fmt.Errorf("%w; --help lists the flags", err)
	}
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	flag := invalid.GetFlag()
	if wanted, known := valueTypes[flag.Value.Type()]; known {
		return fmt.Errorf("--%s: %q is not %s", flag.Name, invalid.GetValue(), wanted)
	}
	return fmt.Errorf("--%s: %w", flag.Name, invalid.Unwrap())
}

var valueTypes = map[string]string{
	"bool":     "true or false",
	"int":      "a whole number",
	"float64":  "a number",
	"duration": "a duration such as 30s or 5m",
}
