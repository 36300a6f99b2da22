package main

// mutant is the code without one rule of docs/protocol.
type mutant struct {
	rule string
	file string // from the root of the repository
	old  string // once in the file
	new  string
	test []string // arguments of go test; nil: the simulation

	module string // where to run it; empty: the root
}

var simulation = []string{"./ownership/simulation", "-run", "TestSimulation", "-seeds", "2000"}

const (
	decide  = "ownership/plan/decide.go"
	facts   = "ownership/facts.go"
	ledger  = "ownership/ledger.go"
	look    = "ownership/look.go"
	memory  = "ownership/memory/table.go"
	orphans = "controller/binding/orphans.go"
	passes  = "ownership/pass/pass.go"
	state   = "ownership/state.go"
	write   = "ownership/write.go"
)

var mutants = []mutant{
	{
		rule: "a claim looks for releases",
		file: look, old: "o.Release = true", new: "o.Release = false",
	},
	{
		rule: "a release looks for holders",
		file: look, old: "o.Hold = true", new: "o.Hold = false",
	},
	{
		rule: "a claim waits for D",
		file: ledger, old: ".first) >= Settle", new: ".first) >= 0",
	},
	{
		rule: "D counts from the end of the first look",
		file: ledger, old: "ended := l.env.Now()", new: "ended := began",
		test: []string{"./ownership"},
	},
	{
		rule: "flag first, then look",
		file: facts, old: "l.own, l.written, l.loaded, l.look = next, begun, true, nil",
		new: "l.own, l.written, l.loaded = next, begun, true\n\tif l.look != nil {\n\t\tl.look.own, l.look.written = next, begun\n\t}",
	},
	{
		rule: "a write is conditional on what its writer saw",
		file: memory, old: "if before.Revision != seen {", new: "if false {",
	},
	{
		rule: "an old flag is written anew",
		file: state, old: "s.Expired = Elapsed(l.written, l.env.Now()) > CallBudget", new: "s.Expired = false",
	},
	{
		rule: "a permission to deregister ends 20 s after the flag",
		file: look, old: "l.permit(targets, l.written,", new: "l.permit(targets, l.began.Add(Settle),",
		test: []string{"./ownership/pass", "-run", "TestCase12"},
	},
	{
		rule: "a record that another left is written first",
		file: facts, old: "l.inherited = time.Time{}, ", new: "l.inherited = time.Time{}, false && ",
		// It takes an old leader that is late by most of D, a few runs in ten
		// thousand.
		test: []string{"./ownership"},
	},
	{
		rule: "D counts from the write that takes over",
		file: facts, old: "\t\tl.settleInherited()\n", new: "",
		// It takes a write that comes 20 s after its reading.
		test: []string{"./ownership"},
	},
	{
		rule: "a deregistration in doubt may land for D",
		file: facts, old: "f.late || unsure, l.env.Now().Add(Settle)", new: "f.late || unsure, time.Time{}",
	},
	{
		rule: "a registration in doubt may land for D",
		file: facts, old: "f.failed, f.returnBy, f.astray = err, l.env.Now().Add(Settle), ", new: "f.failed, f.astray = err, ",
	},
	{
		rule: "a deregistration counts if it began when no registration could land",
		file: state, old: "f.goneAt.Before(f.returnBy)", new: "false",
	},
	{
		rule: "nothing is dropped while a call may land",
		file: decide, old: "if last.IsZero() {", new: "if true {",
	},
	{
		rule: "nothing is claimed back while a deregistration may land",
		file: decide, old: "func returning(s ownership.State, step stepper) Step {\n\tif !s.LeaveBy.IsZero() {",
		new: "func returning(s ownership.State, step stepper) Step {\n\tif false {",
	},
	{
		rule: "what is claimed back is registered again",
		file: facts, old: "f.presence, f.claimed, f.late, f.astray = Unknown, true, false, false", new: "f.claimed, f.late, f.astray = true, false, false",
	},
	{
		rule: "a late deregistration is given back",
		file: decide, old: "step(Register, GiveBack)", new: "step(Drop, HeldByOther)",
		// A call that lands later than the protocol assumes.
		test: []string{"./ownership/pass", "-run", "TestAFrozenDeregistrationIsGivenBack"},
	},
	{
		rule: "after giving back comes another look",
		file: facts, old: "\t\tf.lookPast = l.looks\n", new: "",
	},
	{
		rule: "a listing does not confirm a claim",
		file: facts, old: "case !f.claimed && ", new: "case ",
		// The next comparison hides it.
		test: []string{"./ownership"},
	},
	{
		rule: "a write in doubt is followed by a write",
		file: ledger, old: "len(l.pending) > 0", new: "false",
		// A few runs in ten thousand.
		test: []string{"./ownership"},
	},
	{
		rule: "a write of ours is known again",
		file: write, old: "if l.own.WriteID == next.WriteID {", new: "if false {",
		// The next pass makes up for it.
		test: []string{"./ownership"},
	},
	{
		rule: "rows that the table lost are remembered",
		file: write, old: "\t\tl.rememberLost(stored)\n", new: "",
	},
	{
		rule: "a pass that was succeeded ends",
		file: ledger, old: "if known && l.Inherited() {", new: "if known && false {",
		// Old leaders have ended when a run does, and their harm is repaired.
		test: []string{"./ownership/pass", "-run", "TestCase12"},
	},
	{
		rule: "a pass that began too long ago takes nothing over",
		file: ledger, old: "Elapsed(l.begun, since) > CallBudget", new: "false",
		// Old leaders have ended when a run does, and their harm is repaired.
		test: []string{"./ownership", "-run", "TestAPassThatSlept"},
	},
	{
		rule: "a pass is as old as what it wants",
		file: ledger, old: "l.begun, l.used, l.look, l.listing = at, ", new: "l.begun, l.used, l.look, l.listing = l.env.Now(), ",
		test: []string{"./ownership", "-run", "TestAPassThatRead"},
	},
	{
		rule: "a registration that was given up may land after a successor was done",
		file: facts, old: "f.astray || unsure", new: "f.astray || done",
		test: []string{"./ownership", "-run", "MayLand"},
	},
	{
		rule: "a clock that is set back has no say",
		file: look, old: "return max(to.Sub(from), to.Round(0).Sub(from.Round(0)))", new: "return to.Round(0).Sub(from.Round(0))",
		test: []string{"./ownership", "-run", "Sle"},
	},
	{
		rule: "a look from before a late call landed says nothing after it",
		file: state, old: "l.look.follows(f, now)", new: "true",
	},
	{
		rule: "a registration that landed after a successor was done is released",
		file: write, old: " || l.facts[t] != nil && l.facts[t].astray", new: "",
		// A call that lands later than the protocol assumes.
		test: []string{"./ownership"},
	},
	{
		rule: "a permission ends by whichever clock went further",
		file: look, old: "return max(to.Sub(from), to.Round(0).Sub(from.Round(0)))", new: "return to.Sub(from)",
		test: []string{"./ownership", "-run", "Sle"},
	},
	{
		rule: "registrations that hang hold up no removal",
		file: passes, old: " || r.Left(begun) < 0", new: "",
		test: []string{"./ownership/pass"},
	},
	{
		rule: "a shared binding leaves alone what nobody recorded",
		file: decide, old: "case !exclusive || !s.Listed:", new: "case !s.Listed:",
	},
	{
		rule: "an exclusive binding leaves what others recorded",
		file: decide, old: "case s.Others.Hold || s.Others.Release:", new: "case false:",
		test: []string{"./ownership/plan", "-run", "TestTruthTable"},
	},
	{
		rule: "an unreadable record blocks removals",
		file: look, old: "Unreadable: len(l.unreadable) > 0", new: "Unreadable: false",
		test: []string{"./ownership/pass", "-run", "TestAnUnreadableRecordBlocksRemovalsNotRegistrations"},
	},
	{
		rule: "who releases for a binding that is gone proves its cluster ID first",
		file: orphans, old: "r.Gate.CheckSince(o.read)", new: "r.Gate.Check()",
		test: []string{"./controller/binding", "-run", "TestASweep"},
	},
	{
		rule: "a process that was succeeded trusts no cache",
		file: "controller/binding/desired.go", old: "if b.state.ledger.Inherited() {", new: "if false {",
		module: "test", test: []string{"./binding", "-run", "TestCase12APassThatWasSucceeded"},
	},
}
