package managed

// OfServices and OfIngresses are the reconcilers that Setup makes.
func OfServices(o Options) *Reconciler  { return newReconciler(o, services) }
func OfIngresses(o Options) *Reconciler { return newReconciler(o, ingresses) }

// ByOwner and OwnersOf are the index that the reconcilers need.
const ByOwner = byOwner

var OwnersOf = ownersOf

// BindingChanged lets through what owners look at.
var BindingChanged = bindingChanged

// Waits between two tries.
const (
	UntilCaught  = untilCaught
	UntilOpen    = untilOpen
	UntilAllowed = untilAllowed
)
