package elbsim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Options of a simulator. The zero value is a working choice.
type Options struct {
	// Now is the clock of all state changes; time.Now if nil.
	Now func() time.Time
	// Seed determines ARNs and the draws of Rule.Chance.
	Seed uint64
	// Port to listen on, on 127.0.0.1; 0 takes a free one.
	Port int
	// Region and Account appear in ARNs; us-east-1 and 123456789012 if empty.
	Region, Account string
	// Settings are those that new groups start with.
	Settings Settings
	// Intercept decides on the fault of each call; see Simulator.Intercept.
	Intercept func(Call) Fault
}

// Simulator is an ELBv2 endpoint in process. It is safe for concurrent use.
// It is an http.Handler; Start serves it on a socket.
type Simulator struct {
	options Options
	mux     *http.ServeMux
	server  *http.Server
	served  chan struct{}
	url     string

	mu        sync.Mutex // guards all below
	account   account
	journal   journal
	rules     []*liveRule
	intercept func(Call) Fault
	late      []lateCall
	calls     int
}

// New makes a simulator without target groups.
func New(options Options) *Simulator {
	if options.Now == nil {
		options.Now = time.Now
	}
	setDefault(&options.Region, "us-east-1")
	setDefault(&options.Account, "123456789012")
	s := &Simulator{
		options: options,
		account: account{
			region:    options.Region,
			id:        options.Account,
			random:    rand.New(rand.NewPCG(options.Seed, 0)),
			defaults:  options.Settings.withDefaults(),
			groups:    map[string]*group{},
			instances: map[string]InstanceState{},
			roles:     map[string]Role{},
			sessions:  map[string]session{},
		},
		journal:   journal{observers: map[int]func(Mutation){}},
		intercept: options.Intercept,
	}
	s.mux = s.routes()
	return s
}

func (s *Simulator) now() time.Time { return s.options.Now() }

// ServeHTTP answers SDK calls, the overview and the control API.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Start listens on 127.0.0.1 and returns the URL to use as the SDK's base
// endpoint. It fails if the port is taken. It is called once.
func (s *Simulator) Start() (string, error) {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(s.options.Port))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", fmt.Errorf("start ELB simulator on %s: %w", address, err)
	}
	s.url = "http://" + listener.Addr().String()
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	s.served = make(chan struct{})
	go func() {
		defer close(s.served)
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			panic(fmt.Sprintf("elbsim: serve: %v", err))
		}
	}()
	return s.url, nil
}

// URL is the endpoint, empty before Start.
func (s *Simulator) URL() string { return s.url }

// Close stops listening and cuts off the calls under way.
func (s *Simulator) Close() {
	if s.server == nil {
		return
	}
	// Close fails only if closing the listener does, and then nothing is left to do.
	_ = s.server.Close()
	<-s.served
}

// serveAction answers one SDK call: it arrives, waits, is applied, and is
// answered, each step subject to the fault that was decided on arrival.
func (s *Simulator) serveAction(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		writeError(w, 0, validationError("The request body is not form-encoded: %v", err))
		return
	}
	f := form{r.PostForm}
	f.Set(keyField, caller(r))
	call := s.arrive(f)
	fault := s.faultOf(call)
	wait(r.Context(), fault.Latency)
	result, err := s.decide(call, f, fault)
	switch {
	case fault.Refuse == nil && (fault.Late || fault.DropReply):
		resetConnection(w)
	case err != nil:
		writeError(w, call.ID, err)
	default:
		writeResult(w, call, result)
	}
}

func (s *Simulator) arrive(f form) Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	call := Call{
		ID:     s.calls,
		Time:   s.now(),
		Caller: s.account.callerOf(f.Get(keyField)),
		Action: f.Get("Action"),
		Group:  f.Get("TargetGroupArn"),
	}
	if g, found := s.account.groups[call.Group]; found {
		call.Targets = keys(f.targets(g.Port))
	} else {
		call.Targets = keys(f.targets(0))
	}
	return call
}

// faultOf asks the rules, then the Intercept function, which runs unlocked.
func (s *Simulator) faultOf(call Call) Fault {
	s.mu.Lock()
	fault, hit := s.ruleFor(call)
	intercept := s.intercept
	s.mu.Unlock()
	if hit || intercept == nil {
		return fault
	}
	return intercept(call)
}

// wait blocks for the injected latency, or until the caller has gone away.
func wait(ctx context.Context, latency time.Duration) {
	if latency <= 0 {
		return
	}
	timer := time.NewTimer(latency)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// decide refuses, postpones or applies the call, and writes the journal.
func (s *Simulator) decide(call Call, f form, fault Fault) (any, *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.settle()
	if fault.Refuse != nil {
		s.journal.add(Entry{Call: call, At: now, Outcome: fault.Refuse.Code})
		return nil, fault.Refuse
	}
	if fault.Late {
		s.postpone(call, f, now, fault.LateBy)
		return nil, nil
	}
	result, err := s.apply(call, f, now, false)
	s.journal.add(Entry{Call: call, At: now, Outcome: outcome(err), ReplyLost: fault.DropReply})
	return result, err
}

func (s *Simulator) postpone(call Call, f form, now time.Time, by time.Duration) {
	s.journal.add(Entry{Call: call, At: now, Outcome: OutcomeLate, ReplyLost: true})
	if !actions[call.Action].mutates {
		return
	}
	l := lateCall{call: call, form: f}
	if by > 0 {
		l.due = now.Add(by)
	}
	s.late = append(s.late, l)
}

// apply runs the action and tells the observers of a mutation.
func (s *Simulator) apply(call Call, f form, at time.Time, landed bool) (any, *Error) {
	action, known := actions[call.Action]
	if !known {
		return nil, badRequest("InvalidAction", "The action '%s' is not valid for this web service, or is not simulated", call.Action)
	}
	seen, err := s.account.seenBy(f.Get(keyField), at)
	if err != nil {
		return nil, err
	}
	result, err := action.run(seen, f, at)
	if err != nil || !action.mutates {
		return result, err
	}
	for _, observe := range s.journal.observers {
		observe(Mutation{Call: call, At: at, Landed: landed, Targets: s.account.targets(call.Group, at)})
	}
	return result, nil
}
