/*
 * What a run of the model is about: owners, troubles, and the rules of
 * ../README.md, each of which a mutation sets to 0 (-DRULE=0).
 */

#ifndef OWNERS
#define OWNERS 2
#endif
#ifndef BINDINGS_OF_A
#define BINDINGS_OF_A 1		/* owners 0.. are of one cluster: they die and are succeeded together */
#endif
#ifndef TROUBLES
#define TROUBLES 1		/* crashes, leader changes and answers that are lost, in a run */
#endif

#ifndef RETURNS
#define RETURNS (OWNERS == 2)
#endif

/* ---- flag first, then look, then call ---- */
#ifndef FLAG_BEFORE_LOOK
#define FLAG_BEFORE_LOOK 1
#endif
#ifndef CLAIM_BEFORE_CALL	/* register nothing that is not written down */
#define CLAIM_BEFORE_CALL 1
#endif
#ifndef CLAIM_WAITS		/* while another record has the target in releasing */
#define CLAIM_WAITS 1
#endif
#ifndef CLAIM_WAITS_FOR_D	/* ... until that is gone or unchanged for D */
#define CLAIM_WAITS_FOR_D 1
#endif
#ifndef RELEASE_YIELDS		/* deregister nothing that another record holds */
#define RELEASE_YIELDS 1
#endif
#ifndef PERMISSION_ENDS		/* deregister under a recent flag only */
#define PERMISSION_ENDS 1
#endif
#ifndef UNREADABLE_BLOCKS	/* deregister nothing while a record cannot be understood */
#define UNREADABLE_BLOCKS 1
#endif
#ifndef SHARED_TAKES_NOTHING	/* that nobody recorded; only an exclusive binding does */
#define SHARED_TAKES_NOTHING 1
#endif

/* ---- without these nothing is harmed, but something is never done: L1 ---- */
#ifndef CLAIM_WAITS_NO_LONGER	/* than D for an entry whose owner is gone for good */
#define CLAIM_WAITS_NO_LONGER 1
#endif
#ifndef FLAGS_ANEW		/* when its permission has ended */
#define FLAGS_ANEW 1
#endif
#ifndef COMPARES		/* what it holds with the group */
#define COMPARES 1
#endif

/* ---- calls in doubt ---- */
#ifndef REGISTRATION_SETTLES	/* an unanswered registration may land for D */
#define REGISTRATION_SETTLES 1
#endif
#ifndef DEREGISTRATION_SETTLES	/* an unanswered deregistration may land for D */
#define DEREGISTRATION_SETTLES 1
#endif
#ifndef GONE_AFTER_REGISTRATIONS	/* a deregistration counts if it began when no registration could land */
#define GONE_AFTER_REGISTRATIONS 1
#endif
#ifndef CLAIM_BACK_SETTLES	/* claim back when no deregistration of ours can land */
#define CLAIM_BACK_SETTLES 1
#endif
#ifndef CLAIM_BACK_REGISTERS	/* what is claimed back is registered again */
#define CLAIM_BACK_REGISTERS 1
#endif
#ifndef LOOK_AFTER_SETTLING	/* a look from before the calls had settled drops nothing */
#define LOOK_AFTER_SETTLING 1
#endif
#ifndef GIVES_BACK		/* what a late deregistration may have taken from its holder */
#define GIVES_BACK 1
#endif
#ifndef LOOK_AFTER_GIVING_BACK
#define LOOK_AFTER_GIVING_BACK 1
#endif
#ifndef LISTING_CONFIRMS_NO_CLAIM
#define LISTING_CONFIRMS_NO_CLAIM 1
#endif

/* ---- writes, and records that another process left ---- */
#ifndef WRITES_ARE_CONDITIONAL
#define WRITES_ARE_CONDITIONAL 1
#endif
#ifndef DOUBT_IS_WRITTEN_OVER	/* a write that may land later is fenced off by another */
#define DOUBT_IS_WRITTEN_OVER 1
#endif
#ifndef TAKE_OVER_KEEPS		/* a record that is found is finished, not deleted */
#define TAKE_OVER_KEEPS 1
#endif
#ifndef TAKE_OVER_WRITES	/* a record that is found is written before anything else */
#define TAKE_OVER_WRITES 1
#endif
#ifndef TAKE_OVER_SETTLES	/* D for the calls of the process that left it */
#define TAKE_OVER_SETTLES 1
#endif
