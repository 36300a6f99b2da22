package main

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"time"

	"github.com/spf13/pflag"
	"go.uber.org/zap/zapcore"

	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/ownership"
)

// settings are what the flags say.
type settings struct {
	clusterID string
	table     string
	region    string

	dynamoDBEndpoint string
	elbv2Endpoint    string

	comparePeriod   time.Duration
	heartbeatPeriod time.Duration
	workers         int

	metricsAddress string
	probeAddress   string
	namespace      string // of the leader lease
	leaderElection bool
	lbcLeases      []string

	logLevel zapcore.Level
	version  bool
}

func (s *settings) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("controller", pflag.ContinueOnError)
	f.SortFlags = false
	f.StringVar(&s.clusterID, "cluster-id", "", "name of this cluster in the ownership table; unique among the clusters that share it, and never changed (required)")
	f.StringVar(&s.table, "table", "target-ownership", "name of the DynamoDB table that all clusters share")
	f.StringVar(&s.region, "region", "", "AWS region of the table and of the target groups; default: the region of the AWS configuration or of the instance")
	f.StringVar(&s.dynamoDBEndpoint, "dynamodb-endpoint", "", "URL of the DynamoDB endpoint; default: the region's own")
	f.StringVar(&s.elbv2Endpoint, "elbv2-endpoint", "", "URL of the Elastic Load Balancing v2 endpoint; default: the region's own")
	f.DurationVar(&s.comparePeriod, "compare-period", 5*time.Minute, "how often each binding's record is compared with its target group, between 10s and 1h")
	f.DurationVar(&s.heartbeatPeriod, "heartbeat-period", 10*time.Second, "how often this cluster shows in the table that it is alive, between 1s and 1m")
	f.IntVar(&s.workers, "workers", 10, "how many bindings are worked on at once, 1 to 100")
	f.StringVar(&s.metricsAddress, "metrics-bind-address", ":8080", "address of the Prometheus metrics; 0 turns them off")
	f.StringVar(&s.probeAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0 turns them off")
	f.BoolVar(&s.leaderElection, "leader-elect", true, "run only while holding the leader lease; needed with more than one replica")
	f.StringVar(&s.namespace, "leader-election-namespace", "", "namespace of the leader lease; default: the namespace that the controller runs in")
	f.StringSliceVar(&s.lbcLeases, "load-balancer-controller-lease", []string{cluster.LoadBalancerControllerLease.Name}, "NAME or NAMESPACE/NAME of each lease that shows the AWS Load Balancer Controller to be running in this cluster")
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

// tableName is DynamoDB's rule
// (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html).
var (
	tableName = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)
	region    = regexp.MustCompile(`^[a-z]{2,}(-[a-z]+)+-[0-9]+$`)
	leaseName = regexp.MustCompile(`^([a-z0-9-]+/)?[a-z0-9.-]+$`)
)

// validate names every setting that cannot be used, all at once.
func (s *settings) validate() error {
	var errs []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	if err := ownership.ValidateClusterID(s.clusterID); err != nil {
		errs = append(errs, fmt.Errorf("--cluster-id: %w; give each cluster that shares the table a name of its own", err))
	}
	refuse(!tableName.MatchString(s.table), "--table: %q is not the name of a DynamoDB table, which has 3 to 255 letters, digits, '-', '_' or '.'", s.table)
	refuse(s.region != "" && !region.MatchString(s.region), "--region: %q is not an AWS region such as eu-west-1", s.region)
	refuse(!isURL(s.dynamoDBEndpoint), "--dynamodb-endpoint: %q is not a URL such as https://dynamodb.eu-west-1.amazonaws.com", s.dynamoDBEndpoint)
	refuse(!isURL(s.elbv2Endpoint), "--elbv2-endpoint: %q is not a URL such as https://elasticloadbalancing.eu-west-1.amazonaws.com", s.elbv2Endpoint)
	refuse(s.comparePeriod < 10*time.Second || s.comparePeriod > time.Hour, "--compare-period: %s is not between 10s and 1h", s.comparePeriod)
	refuse(s.heartbeatPeriod < time.Second || s.heartbeatPeriod > time.Minute, "--heartbeat-period: %s is not between 1s and 1m", s.heartbeatPeriod)
	refuse(s.workers < 1 || s.workers > 100, "--workers: %d is not between 1 and 100", s.workers)
	for _, lease := range s.lbcLeases {
		refuse(!leaseName.MatchString(lease), "--load-balancer-controller-lease: %q is not NAME or NAMESPACE/NAME", lease)
	}
	return errors.Join(errs...)
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return s == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
