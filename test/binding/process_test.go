package binding

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"target-ownership-controller/controller/binding"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership/dynamo"
)

const (
	comparePeriod = 5 * time.Minute
	elbRegion     = "us-east-1"    // of the simulator
	elbAccount    = "123456789012" // of the simulator
	firstRetry    = 200 * time.Millisecond
)

// process is one controller process. It reads without caches: what a cache
// would answer is fresh, unless the test disturbs a "cached" call.
type process struct {
	*binding.Reconciler
	*wire
	events *eventLog
}

// newProcess is a controller for the site that remembers nothing yet.
func (s *site) newProcess() *process {
	s.t.Helper()
	p := &process{wire: &wire{}, events: &eventLog{}}
	loadBalancers := s.loadBalancers(p.wire)
	p.Reconciler = binding.New(binding.Reconciler{
		Client: s.client(p.wire, "cached"),
		Live:   s.client(p.wire, "live"),
		Groups: loadBalancers,
		Assume: s.assume(p.wire, loadBalancers),
		Store:  s.dynamoDB(p.wire),
		Gate:   &s.gate,
		Events: p.events,
		Clock:  s.clock,
		NewID:  uuid.NewString,
		Options: binding.Options{
			Kind: s.kind, ClusterID: s.id, Version: "test", Account: elbAccount, ComparePeriod: comparePeriod,
		},
	})
	return p
}

func (s *site) client(w *wire, reads string) client.Client {
	s.t.Helper()
	config := rest.CopyConfig(s.api.Config)
	config.Wrap(w.kubernetes(reads))
	c, err := client.New(config, client.Options{Scheme: s.api.Client.Scheme(), Mapper: s.api.Client.RESTMapper()})
	s.Expect(err).NotTo(HaveOccurred())
	return c
}

// loadBalancers has no rate limit that a test would notice.
func (s *site) loadBalancers(w *wire) *elb.Client {
	limit := elb.Limit{PerSecond: 1000, Burst: 1000}
	return elb.New(s.sim.Client(s.id, func(o *elbv2.Options) { o.HTTPClient = w.aws() }), elb.Options{
		Now: s.clock.Now, Region: elbRegion, Account: elbAccount, Limits: elb.Limits{Reads: limit, Mutations: limit},
	})
}

// assume reaches groups by roles that the site may assume.
func (s *site) assume(w *wire, home *elb.Client) func(elb.Role) binding.Groups {
	accounts := elb.NewAccounts(home, s.sim.STS(s.id, func(o *sts.Options) { o.HTTPClient = w.aws() }), func(c aws.CredentialsProvider) elb.API {
		return s.sim.Client(s.id, func(o *elbv2.Options) { o.HTTPClient, o.Credentials = w.aws(), c })
	}, "target-ownership-"+s.id)
	return func(role elb.Role) binding.Groups { return accounts.Of(role) }
}

// dynamoDB retries as often as in production, but does not wait for it.
func (s *site) dynamoDB(w *wire) *dynamo.Table {
	return dynamo.New(dynamodb.NewFromConfig(s.table.Config, func(o *dynamodb.Options) {
		o.HTTPClient = w.aws()
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	}), s.table.Name, dynamo.Options{})
}

// try makes one pass.
func (p *process) try(ctx context.Context, key client.ObjectKey) (reconcile.Result, error) {
	return p.Reconcile(ctx, reconcile.Request{NamespacedName: key})
}

// eventLog keeps events for people.
type eventLog struct {
	mu     sync.Mutex
	events []string
}

// Eventf implements events.EventRecorder.
func (l *eventLog) Eventf(_, _ runtime.Object, eventtype, reason, _, note string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, fmt.Sprintf("%s %s: ", eventtype, reason)+fmt.Sprintf(note, args...))
}

// taken returns the events so far and forgets them.
func (l *eventLog) taken() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := slices.Clone(l.events)
	l.events = nil
	return taken
}
