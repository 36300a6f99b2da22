package model

// Promise is one of those in docs/protocol/README.md.
type Promise string

// The promises.
const (
	S1 Promise = "S1" // nobody's target is taken out by another owner
	S2 Promise = "S2" // what is in the group is in a record until it is confirmed gone
	S3 Promise = "S3" // a shared binding never touches what nobody recorded
	L1 Promise = "L1" // in the end the group has what is wanted
)

// configuration is the macros that the model is compiled with. L1 needs the
// macro LIVE, and its search another kind of pan.
type configuration struct {
	model  string
	bounds string // of a run, where they are not those of the model's page
	macros []string
	live   bool
}

// The configurations that have to be safe, the longest search first. Two
// owners may go through more than three: two things go wrong in a run, records
// are unreadable to others, and a process that was succeeded begins anew.
var configurations = []configuration{
	{model: "two bindings of one cluster, and another cluster", macros: []string{"OWNERS=3", "BINDINGS_OF_A=2"}},
	{model: threeClusters, macros: []string{"OWNERS=3"}},
	{model: threeClusters, bounds: "no crash and no lost reply", macros: []string{"OWNERS=3", "TROUBLES=0", "LIVE"}, live: true},
	{model: twoClusters, macros: []string{"OWNERS=2", "TROUBLES=2", "UNREADABLE"}},
	{model: twoClusters, macros: []string{"OWNERS=2", "LIVE"}, live: true},
}

const (
	twoClusters   = "two clusters"
	threeClusters = "three clusters"
)

var (
	two     = configuration{model: twoClusters, macros: []string{"OWNERS=2", "UNREADABLE"}}
	three   = configuration{model: threeClusters, macros: []string{"OWNERS=3"}}
	twoLive = configuration{model: twoClusters, macros: []string{"OWNERS=2", "LIVE"}, live: true}
)

// mutation is the protocol without one rule, in the smallest configuration
// that shows what it is for.
type mutation struct {
	rule   string
	macro  string // of rules.pml, which is set to 0
	breaks Promise
	in     configuration
}

var mutations = []mutation{
	{"a release is flagged before the look", "FLAG_BEFORE_LOOK", S1, two},
	{"a claim is written before the call", "CLAIM_BEFORE_CALL", S2, two},
	{"a claim waits for another's release", "CLAIM_WAITS", S1, two},
	{"a claim waits until D has passed", "CLAIM_WAITS_FOR_D", S1, two},
	{"a release yields to another's claim", "RELEASE_YIELDS", S1, two},
	{"a permission to deregister ends", "PERMISSION_ENDS", S1, two},
	{"an unreadable record blocks removals", "UNREADABLE_BLOCKS", S1, two},
	{"a shared binding takes nothing that nobody recorded", "SHARED_TAKES_NOTHING", S3, two},
	{"a registration in doubt may land for D", "REGISTRATION_SETTLES", S2, two},
	{"a deregistration in doubt may land for D", "DEREGISTRATION_SETTLES", S1, two},
	{"a deregistration counts if no registration could land", "GONE_AFTER_REGISTRATIONS", S2, two},
	{"nothing is claimed back while a deregistration may land", "CLAIM_BACK_SETTLES", S1, two},
	{"what is claimed back is registered again", "CLAIM_BACK_REGISTERS", S1, two},
	{"a look from before calls had settled drops nothing", "LOOK_AFTER_SETTLING", S2, three},
	{"after giving back comes another look", "LOOK_AFTER_GIVING_BACK", S2, two},
	{"a write is conditional on what its writer saw", "WRITES_ARE_CONDITIONAL", S1, two},
	{"a write in doubt is written over", "DOUBT_IS_WRITTEN_OVER", S1, two},
	{"a record that another process left is kept", "TAKE_OVER_KEEPS", S2, two},
	{"a record that another process left is written first", "TAKE_OVER_WRITES", S1, two},
	{"D counts for the calls of the process before", "TAKE_OVER_SETTLES", S2, two},
	{"a claim waits no longer than D", "CLAIM_WAITS_NO_LONGER", L1, twoLive},
	{"a flag that is too old is written anew", "FLAGS_ANEW", L1, twoLive},
	{"the record is compared with the group", "COMPARES", L1, twoLive},
}

// unneeded are rules that no promise needs as long as the assumptions of the
// protocol hold. docs/protocol/model says what they are for.
var unneeded = []string{"GIVES_BACK", "LISTING_CONFIRMS_NO_CLAIM"}
