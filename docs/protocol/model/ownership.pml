/*
 * The ownership protocol (../README.md): one target of one group, and owners
 * that flag, look and call one step at a time. README.md says what is in the
 * model, what is not, and why. `make verify-protocol` runs it.
 *
 * By hand: spin -a -DOWNERS=2 ownership.pml && cc -O2 -DSAFETY -o pan pan.c &&
 * ./pan -m1000000; then ./pan -r shows what went wrong, if anything did.
 */

#include "rules.pml"
#include "state.pml"
#include "calls.pml"
#include "table.pml"
#include "controller.pml"
#include "world.pml"

init {
	byte i;
	d_step {
		do
		:: i < OWNERS -> proc[i].pc = IDLE; proc[i].fresh = true; i++
		:: else -> break
		od;
		i = 0
	}
	atomic {
		run controller(0, 0); run controller(1, 1);
		run controller(OWNERS, 0); run controller(OWNERS + 1, 1);
		run owner(0); run owner(1);
#if OWNERS > 2
		run controller(2, 2); run controller(OWNERS + 2, 2); run owner(2);
#endif
		run world()
	}
}

#ifdef LIVE
/* L1. Owners that never come back keep what they hold in the group. */
#define LIVES(o) (proc[o].pc != DOWN)
#if OWNERS == 2
#define ALL_LIVE (LIVES(0) && LIVES(1))
#define WANTED (LIVES(0) && want[0] || LIVES(1) && want[1])
#else
#define ALL_LIVE (LIVES(0) && LIVES(1) && LIVES(2))
#define WANTED (LIVES(0) && want[0] || LIVES(1) && want[1] || LIVES(2) && want[2])
#endif
#define RIGHT (WANTED && group == OURS || !WANTED && (!ALL_LIVE || group == OUT || group == STRANGER && !exclusive))
ltl l1 { [] (calm -> <> [] RIGHT) }
#endif
