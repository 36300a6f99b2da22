package elb

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"k8s.io/utils/lru"
)

// Accounts makes the clients for the groups of other accounts: one for each
// role, when it is first asked for, which all bindings of the role share.
// Clients of one account share its rate limits.
type Accounts struct {
	home    *Client
	sts     stscreds.AssumeRoleAPIClient
	api     func(aws.CredentialsProvider) API
	session string

	mu      sync.Mutex
	clients *lru.Cache // of *Client, by Role
	lanes   *lru.Cache // of lanes, by account
}

// maxRoles bounds what is kept for roles. Bindings that are worked on keep
// their client; a tenant who tries external IDs fills no memory.
const maxRoles = 1000

// NewAccounts returns the accounts that can be reached from the one of home.
// Its roles are assumed through sts, in sessions of that name, which CloudTrail
// shows in each account. api makes the client of a role.
func NewAccounts(home *Client, sts stscreds.AssumeRoleAPIClient, api func(aws.CredentialsProvider) API, session string) *Accounts {
	return &Accounts{
		home: home, sts: sts, api: api, session: sessionName(session),
		clients: lru.New(maxRoles), lanes: lru.New(maxRoles),
	}
}

// sessionName leaves out what AWS does not take (up to 64 of \w+=,.@-).
func sessionName(s string) string { return s[:min(len(s), 64)] }

// Of returns the client for the groups of a role that is valid; of the zero
// Role, the home account's.
func (a *Accounts) Of(role Role) *Client {
	if role.ARN == "" {
		return a.home
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if found, ok := a.clients.Get(role); ok {
		return found.(*Client)
	}
	made := a.make(role)
	a.clients.Add(role, made)
	return made
}

func (a *Accounts) make(role Role) *Client {
	cached := aws.NewCredentialsCache(assumeRole{role, a.provider(role)}, func(o *aws.CredentialsCacheOptions) {
		o.ExpiryWindow = expiryWindow
	})
	c := &Client{
		api:     a.api(&guard{cached: cached, now: a.home.options.Now}),
		options: a.home.options,
		lanes:   a.lanesOf(role.Account()),
		outside: newOutsiders(),
		tags:    newTagsRead(),
		expired: cached.Invalidate,
	}
	c.options.Account, c.options.Role = role.Account(), role
	return c
}

// lanesOf are the rate limits of an account.
func (a *Accounts) lanesOf(account string) lanes {
	if account == a.home.options.Account {
		return a.home.lanes
	}
	if found, ok := a.lanes.Get(account); ok {
		return found.(lanes)
	}
	made := newLanes(a.home.options.Limits)
	a.lanes.Add(account, made)
	return made
}

// A session lasts as long as AWS allows one that a role begins for another
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles.html#iam-term-role-chaining),
// and is renewed a good while before a call could outlast it.
const (
	sessionLasts = time.Hour
	expiryWindow = time.Minute
)

func (a *Accounts) provider(role Role) aws.CredentialsProvider {
	return stscreds.NewAssumeRoleProvider(a.sts, role.ARN, func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName, o.Duration = a.session, sessionLasts
		if role.ExternalID != "" {
			o.ExternalID = aws.String(role.ExternalID)
		}
	})
}

// assumeRole bounds an attempt, and names the role that it fails for.
type assumeRole struct {
	role     Role
	provider aws.CredentialsProvider
}

// assumeTimeout is well below the budget of a call, which waits for it.
const assumeTimeout = 5 * time.Second

// Retrieve implements aws.CredentialsProvider.
func (a assumeRole) Retrieve(ctx context.Context) (aws.Credentials, error) {
	ctx, cancel := context.WithTimeout(ctx, assumeTimeout)
	defer cancel()
	found, err := a.provider.Retrieve(ctx)
	if err != nil {
		return aws.Credentials{}, &RoleError{a.role, err}
	}
	return found, nil
}

// guard keeps a role that cannot be assumed from taking up the time of
// everybody who works on bindings: after a failure one caller at a time tries
// again, now and then, and the others fail at once.
type guard struct {
	cached *aws.CredentialsCache
	now    func() time.Time

	mu      sync.Mutex
	failed  error // what the last attempt came to
	trying  bool
	retryIn time.Duration
	retryAt time.Time
}

// Pauses between attempts of a role that fails.
const (
	firstAttempt = time.Second
	lastAttempt  = 30 * time.Second
)

// Retrieve implements aws.CredentialsProvider.
func (g *guard) Retrieve(ctx context.Context) (aws.Credentials, error) {
	if err := g.admit(); err != nil {
		return aws.Credentials{}, err
	}
	found, err := g.cached.Retrieve(ctx)
	if ctx.Err() == nil || err == nil {
		g.note(err)
	} else {
		g.leave()
	}
	return found, err
}

func (g *guard) admit() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failed == nil {
		return nil
	}
	if g.trying || g.now().Before(g.retryAt) {
		return g.failed
	}
	g.trying = true
	return nil
}

func (g *guard) note(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed, g.trying = err, false
	if err == nil {
		g.retryIn = 0
		return
	}
	g.retryIn = min(max(2*g.retryIn, firstAttempt), lastAttempt)
	g.retryAt = g.now().Add(g.retryIn)
}

// leave is for a caller who gave up: nothing is known.
func (g *guard) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.trying = false
}
