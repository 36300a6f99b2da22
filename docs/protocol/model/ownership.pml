/*
 * The ownership protocol (../README.md), one target of one group.
 *
 * Owners flag, look and call one step at a time. Their calls land late, are
 * refused, or lose their reply; their processes crash, or are succeeded and
 * wake up again. Macros choose the configuration (OWNERS, BINDINGS_OF_A, LIVE,
 * UNREADABLE), the bounds (TROUBLES), and a rule to leave out
 * (DROP_ON_OLD_LOOK, the only one so far, which needs three owners to fail).
 *
 * spin -a -DOWNERS=2 ownership.pml && cc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c &&
 * ./pan -m1000000
 */

#ifndef OWNERS
#define OWNERS 2
#endif
#ifndef BINDINGS_OF_A
#define BINDINGS_OF_A 1		/* owners 0.. that live and die together */
#endif
#ifndef TROUBLES
#define TROUBLES 1		/* crashes, leader changes and answers that are lost, in a run */
#endif

#define ALL ((1 << OWNERS) - 1)
#define EXCLUSIVE(o) ((o) == 0)	/* this binding may be exclusive, the others are shared */

/* an entry of a record */
#define NONE 0
#define HELD 1
#define RELEASING 2

/* the target in the group */
#define OUT 0
#define STRANGER 1		/* a person put it there, and no owner has claimed it since */
#define OURS 2

/* what a process knows of the target in the group */
#define UNKNOWN 0
#define INHERITED 1		/* unknown, and held by a record that another process left */
#define REGISTERED 2
#define GONE 3

/* calls whose process no longer waits for them */
#define NO_CALL 0
#define EARLIER 1		/* a registration for a claim that ended since */
#define CURRENT 2

/* where a process is */
#define DOWN 0
#define START 1
#define IDLE 2
#define LOOK 3
#define READY 4			/* has looked, and may act on it */
#define ENTERING 5		/* a registration is under way */
#define LEAVING 6

typedef Process {
	unsigned pc : 4;
	unsigned entry : 2;		/* the record as it knows it */
	unsigned presence : 2;
	unsigned fresh : 1;		/* nobody else has written the record since it read or wrote it */
	unsigned flagged : 1;		/* its permission to deregister has not ended */
	unsigned leave : 1;		/* for all it knows, a deregistration of its owner may land */
	unsigned enter : 1;		/* ... a registration ... */
	unsigned late : 1;		/* a deregistration may have landed when others no longer waited */
	unsigned past : 1;		/* the claim that its registration is for has ended */
	unsigned before : 1;		/* what it does was allowed before its successor began to count D */
	unsigned seen : 3;		/* records that its look has read */
	unsigned hold : 1;		/* the look found a holder */
	unsigned block : 1;		/* ... a releasing entry (claim), an unreadable record (release) */
};

Process proc[2 * OWNERS];	/* o: the leader of owner o; OWNERS + o: the one before it */

byte record[OWNERS];
bool aged[OWNERS];		/* unchanged for D */
bool unreadable[OWNERS];	/* to others: a newer schema */
bool leaving[OWNERS];		/* deregistrations that were given up and may land */
byte entering[OWNERS];		/* registrations that were given up and may land */
bool registered[OWNERS];	/* by this owner, since it holds the target */
byte group;
byte troubles = TROUBLES;

#ifdef LIVE
bool calm;			/* nothing goes wrong or changes any more */
bool want[OWNERS];		/* what owners want from then on */
bool exclusive;			/* owner 0, from then on */
#define CONFIRMED REGISTERED
#define WANTS(o) (!calm || want[o])
#define UNWANTED(o) (!calm || !want[o])
#define TROUBLE (!calm)
#define TAKES(o) (EXCLUSIVE(o) && (!calm || exclusive && group != OUT && !RECORDED))
#define IF_CALM(x) (!calm || (x))
#else
/* A listing may lag, and show at any time that a target is missing. */
#define CONFIRMED UNKNOWN
#define WANTS(o) true
#define UNWANTED(o) true
#define TROUBLE true
#define TAKES(o) EXCLUSIVE(o)
#define IF_CALM(x) true
#endif

#if OWNERS == 2
#define RECORDED (record[0] != NONE || record[1] != NONE)
#define RELIED(o) (registered[1 - o])
#else
#define RECORDED (record[0] != NONE || record[1] != NONE || record[2] != NONE)
#define RELIED(o) (o != 0 && registered[0] || o != 1 && registered[1] || o != 2 && registered[2])
#endif

#define NAME(p) ('A' + (p) % OWNERS)
#define ROLE(p) (LEADER(p) -> ' ' : '-')
#define OWNER(p) ((p) % OWNERS)
#define LEADER(p) ((p) < OWNERS)
#define OTHER(p) ((p + OWNERS) % (2 * OWNERS))
#define FOR_CLAIM(p) (proc[p].entry == HELD && !proc[p].past)
#define UNDER_PERMISSION(pc) (pc == LOOK || pc == READY || pc == ENTERING || pc == LEAVING)

/* ---- the load balancer ---- */

inline land_registration(o, current) {
	group = OURS;
	if
	:: current && record[o] == HELD -> registered[o] = true
	:: else
	fi;
	assert(RECORDED)		/* S2 */
}

inline land_deregistration(o) {
	assert(!RELIED(o));		/* S1 */
	assert(!registered[o]);		/* S1, its own claim */
	assert(record[o] == RELEASING);	/* S3: it names what it takes out */
	assert(group != STRANGER || EXCLUSIVE(o));	/* S3 */
	group = OUT
}

inline give_up(p) {
	if
	:: proc[p].pc == ENTERING -> entering[OWNER(p)] = (FOR_CLAIM(p) -> CURRENT : EARLIER)
	:: proc[p].pc == LEAVING -> leaving[OWNER(p)] = true
	:: else
	fi
}

/* ---- the table ---- */

inline forget(p) {
	proc[p].entry = NONE;
	proc[p].presence = UNKNOWN;
	proc[p].fresh = false;
	proc[p].flagged = false;
	proc[p].leave = false;
	proc[p].enter = false;
	proc[p].late = false;
	proc[p].past = false;
	proc[p].before = false;
	proc[p].seen = 0;
	proc[p].hold = false;
	proc[p].block = false
}

/* A pass that finds itself succeeded ends; only the leader begins anew. */
inline succeeded(p) {
	printf("%c%c finds its record written by another process\n", NAME(p), ROLE(p));
	forget(p);
	proc[p].pc = (LEADER(p) -> START : DOWN)
}

/* A conditional write that succeeds. The other process of the owner fails
 * its next one, and sees at its next look that it was succeeded. */
inline write(p, to) {
	if
	:: to == HELD && group == STRANGER -> group = OURS
	:: to != HELD ->
		registered[OWNER(p)] = false;
		proc[OTHER(p)].past = UNDER_PERMISSION(proc[OTHER(p)].pc);
		if
		:: entering[OWNER(p)] == CURRENT -> entering[OWNER(p)] = EARLIER
		:: else
		fi
	:: else
	fi;
	record[OWNER(p)] = to;
	aged[OWNER(p)] = false;
	unreadable[OWNER(p)] = unreadable[OWNER(p)] && to == HELD;
	proc[p].entry = to;
	proc[p].flagged = (to == RELEASING);
	proc[p].late = proc[p].late && to == RELEASING;
	proc[p].fresh = true;
	proc[OTHER(p)].fresh = false;
	if
	:: proc[OTHER(p)].pc == IDLE -> succeeded(OTHER(p))
	:: else
	fi;
	assert(group != OURS || RECORDED)	/* S2 */
}

inline idle(p) {
	if
	:: proc[p].fresh ->
		proc[p].pc = IDLE;
		proc[p].hold = false;
		proc[p].block = false;
		proc[p].past = false;
		proc[p].before = false
	:: else -> succeeded(p)
	fi
}

#define TO_RELEASE(p) (proc[p].entry == RELEASING)
#define MAY_DEREGISTER(p) (TO_RELEASE(p) && !proc[p].hold && !proc[p].block && proc[p].presence != GONE && proc[p].flagged)
#define MAY_GIVE_BACK(p) (TO_RELEASE(p) && proc[p].hold && proc[p].late && proc[p].presence != REGISTERED && !proc[p].leave)
#define MAY_DROP(p) (TO_RELEASE(p) && !proc[p].leave && !proc[p].enter && \
	(proc[p].hold && (!proc[p].late || proc[p].presence == REGISTERED) || proc[p].presence == GONE && !proc[p].hold && !proc[p].block))
#define MAY_ACT(p) (proc[p].entry == HELD && !proc[p].block || MAY_DEREGISTER(p) || MAY_GIVE_BACK(p) || MAY_DROP(p))

/* D counts from here: what the process before was allowed until now. */
inline count(p) {
	proc[OTHER(p)].before = UNDER_PERMISSION(proc[OTHER(p)].pc)
}

inline look_at(p, i) {
	printf("%c%c reads the record of %c: %d\n", NAME(p), ROLE(p), NAME(i), record[i]);
	proc[p].seen = proc[p].seen | (1 << i);
	if
	:: proc[p].entry == HELD ->
		proc[p].block = proc[p].block || !unreadable[i] && record[i] == RELEASING && !aged[i]
	:: else ->
		proc[p].hold = proc[p].hold || !unreadable[i] && record[i] == HELD;
		proc[p].block = proc[p].block || unreadable[i]
	fi;
	if
	:: (proc[p].seen | (1 << OWNER(p))) != ALL -> proc[p].pc = LOOK
	:: else ->
		proc[p].seen = 0;
		if
		:: MAY_ACT(p) -> proc[p].pc = READY
		:: else -> idle(p)
		fi
	fi
}

/* ---- a process of an owner ---- */

#define IS(x) (proc[p].pc == x)
#ifdef DROP_ON_OLD_LOOK
#define SETTLING (IS(IDLE) || IS(LOOK) || IS(READY))
#else
#define SETTLING IS(IDLE)
#endif
/* A look begins with its own record, which is when it is least likely to find
 * itself succeeded. */
#define LOOKS (IS(LOOK) || IS(IDLE) && (CLAIMS || RELEASES))
#define CLAIMS (ENTRY(HELD) && WANTS(o) && !PRESENT(REGISTERED))
#define RELEASES (ENTRY(RELEASING) && UNWANTED(o) && (proc[p].flagged || PRESENT(GONE)))
#define ENTRY(x) (proc[p].entry == x)
#define PRESENT(x) (proc[p].presence == x)

proctype controller(byte p; byte o) {
	do
	/* it reads its record, and writes one that another process left */
	:: d_step { IS(START) && record[o] == NONE ->
		printf("%c%c starts\n", NAME(p), ROLE(p));
		proc[p].fresh = true; proc[p].pc = IDLE
	}
	:: d_step { IS(START) && record[o] == HELD && WANTS(o) ->
		printf("%c%c starts and writes the record that it finds: held\n", NAME(p), ROLE(p));
		write(p, HELD); count(p);
		proc[p].enter = true; proc[p].presence = INHERITED; proc[p].pc = IDLE
	}
	:: d_step { IS(START) && record[o] == HELD && UNWANTED(o) ->
		printf("%c%c starts and writes the record that it finds: held, now releasing\n", NAME(p), ROLE(p));
		write(p, RELEASING); count(p);
		proc[p].enter = true; proc[p].pc = IDLE
	}
	:: d_step { IS(START) && record[o] == RELEASING ->
		printf("%c%c starts and writes the record that it finds: releasing\n", NAME(p), ROLE(p));
		write(p, RELEASING); count(p);
		proc[p].enter = true; proc[p].leave = true; proc[p].late = true; proc[p].pc = IDLE
	}

	/* flag */
	:: d_step { IS(IDLE) && ENTRY(NONE) && WANTS(o) ->
		printf("%c%c claims: held\n", NAME(p), ROLE(p));
		write(p, HELD); proc[p].presence = UNKNOWN
	}
	:: d_step { IS(IDLE) && ENTRY(NONE) && UNWANTED(o) && TAKES(o) ->
		printf("%c%c, exclusive, takes what nobody recorded: releasing\n", NAME(p), ROLE(p));
		write(p, RELEASING); proc[p].presence = UNKNOWN
	}
	:: d_step { IS(IDLE) && ENTRY(HELD) && UNWANTED(o) ->
		printf("%c%c releases: releasing\n", NAME(p), ROLE(p));
		write(p, RELEASING); proc[p].presence = UNKNOWN
	}
	:: d_step { IS(IDLE) && ENTRY(RELEASING) && WANTS(o) && !proc[p].leave ->
		printf("%c%c claims back: held\n", NAME(p), ROLE(p));
		write(p, HELD); proc[p].presence = UNKNOWN
	}
	:: d_step { IS(IDLE) && ENTRY(RELEASING) && UNWANTED(o) && !proc[p].flagged && !PRESENT(GONE) ->
		printf("%c%c flags anew: releasing\n", NAME(p), ROLE(p));
		write(p, RELEASING)
	}

	/* look */
	:: d_step { LOOKS && o != 0 && !(proc[p].seen & 1) -> look_at(p, 0) }
	:: d_step { LOOKS && o != 1 && !(proc[p].seen & 2) -> look_at(p, 1) }
#if OWNERS > 2
	:: d_step { LOOKS && o != 2 && !(proc[p].seen & 4) -> look_at(p, 2) }
#endif

	/* register */
	:: d_step { IS(READY) && ENTRY(HELD) ->
		printf("%c%c registers\n", NAME(p), ROLE(p)); proc[p].pc = ENTERING }
	:: d_step { IS(READY) && ENTRY(HELD) && PRESENT(INHERITED) && IF_CALM(group != OUT) ->
		printf("%c%c finds the target listed\n", NAME(p), ROLE(p));
		if
		:: proc[p].fresh -> registered[o] = true
		:: else
		fi;
		proc[p].presence = CONFIRMED; idle(p)
	}
	/* deregister, give back, drop */
	:: d_step { IS(READY) && MAY_DEREGISTER(p) ->
		printf("%c%c deregisters\n", NAME(p), ROLE(p)); proc[p].pc = LEAVING }
	:: d_step { IS(READY) && MAY_GIVE_BACK(p) ->
		printf("%c%c gives back: registers for the holder\n", NAME(p), ROLE(p));
		proc[p].presence = UNKNOWN; proc[p].hold = false; proc[p].pc = ENTERING }
	:: d_step { IS(READY) && MAY_DROP(p) ->
		if
		:: proc[p].fresh ->
			printf("%c%c drops\n", NAME(p), ROLE(p));
			write(p, NONE); proc[p].presence = UNKNOWN; idle(p)
		:: else -> succeeded(p)
		fi
	}
	/* a look whose time is over */
	:: d_step { IS(READY) && (TROUBLE || !MAY_ACT(p)) -> idle(p) }

	/* calls land and are confirmed, or are refused, or have no answer */
	:: d_step { IS(ENTERING) ->
		printf("the registration of %c%c lands\n", NAME(p), ROLE(p));
		land_registration(o, FOR_CLAIM(p));
		proc[p].presence = (ENTRY(HELD) -> CONFIRMED : REGISTERED); idle(p)
	}
	:: d_step { IS(LEAVING) ->
		printf("the deregistration of %c%c lands\n", NAME(p), ROLE(p));
		land_deregistration(o);
		if
		:: proc[p].enter -> idle(p)
		:: else -> proc[p].presence = GONE; proc[p].pc = READY	/* still with the look of before */
		fi
	}
	:: d_step { (IS(ENTERING) || IS(LEAVING)) && TROUBLE ->
		printf("%c%c: call refused\n", NAME(p), ROLE(p)); idle(p) }
	:: d_step { IS(ENTERING) && troubles > 0 && TROUBLE ->
		printf("%c%c: no answer to its registration\n", NAME(p), ROLE(p));
		troubles--; give_up(p);
		proc[p].enter = true; idle(p)
	}
	:: d_step { IS(LEAVING) && troubles > 0 && TROUBLE ->
		printf("%c%c: no answer to its deregistration\n", NAME(p), ROLE(p));
		troubles--; give_up(p);
		proc[p].leave = true; proc[p].late = true; idle(p)
	}

#ifdef LIVE
	:: d_step { IS(IDLE) && ENTRY(HELD) && PRESENT(REGISTERED) && IF_CALM(group == OUT) -> proc[p].presence = UNKNOWN }
#endif

	/* D has passed on its own clock: calls have landed or never will */
	:: d_step { proc[p].leave && SETTLING && !leaving[o] && !proc[OTHER(p)].before ->
		printf("%c%c: its deregistrations are settled\n", NAME(p), ROLE(p)); proc[p].leave = false }
	:: d_step { proc[p].enter && SETTLING && entering[o] == NO_CALL && !proc[OTHER(p)].before ->
		printf("%c%c: its registrations are settled\n", NAME(p), ROLE(p)); proc[p].enter = false }

	/* a process that was succeeded may end anywhere */
#ifdef LIVE
	:: d_step { calm && !LEADER(p) && IS(IDLE) -> forget(p); proc[p].pc = DOWN }
	/* a cluster whose controller never comes back */
	:: d_step { !calm && LEADER(p) && IS(START) -> proc[p].pc = DOWN }
#endif
	:: d_step { !LEADER(p) && !IS(DOWN) ->
		printf("%c%c ends\n", NAME(p), ROLE(p)); give_up(p); forget(p); proc[p].pc = DOWN }
	od
}

/* ---- the world ---- */

inline crash(o) {
	printf("%c crashes\n", 'A' + o);
	give_up(o); forget(o); proc[o].pc = START
}

inline succeed(o) {
	printf("%c is succeeded\n", 'A' + o);
	forget(OWNERS + o);
	proc[OWNERS + o].pc = proc[o].pc;
	proc[OWNERS + o].entry = proc[o].entry;
	proc[OWNERS + o].presence = proc[o].presence;
	proc[OWNERS + o].fresh = proc[o].fresh;
	proc[OWNERS + o].flagged = proc[o].flagged;
	proc[OWNERS + o].leave = proc[o].leave;
	proc[OWNERS + o].enter = proc[o].enter;
	proc[OWNERS + o].late = proc[o].late;
	proc[OWNERS + o].past = proc[o].past;
	proc[OWNERS + o].seen = proc[o].seen;
	proc[OWNERS + o].hold = proc[o].hold;
	proc[OWNERS + o].block = proc[o].block;
	forget(o); proc[o].pc = START
}

proctype owner(byte o) {
	do
	/* calls that were given up land at any time, or never */
	:: d_step { entering[o] != NO_CALL && TROUBLE ->
		printf("a late registration of %c lands\n", 'A' + o);
		land_registration(o, entering[o] == CURRENT) }
	:: d_step { leaving[o] && TROUBLE ->
		printf("a late deregistration of %c lands\n", 'A' + o);
		land_deregistration(o) }
	:: d_step { entering[o] != NO_CALL -> entering[o] = NO_CALL }
	:: d_step { leaving[o] -> leaving[o] = false }

	/* D has passed since the last write: permission has ended, and calls
	 * under it have landed or never will */
	:: d_step { record[o] == RELEASING && !aged[o] && !leaving[o] &&
		proc[o].pc != LEAVING && proc[OWNERS + o].pc != LEAVING && IF_CALM(!proc[o].flagged && !proc[OWNERS + o].flagged) ->
		printf("the record of %c has been unchanged for D\n", 'A' + o);
		aged[o] = true; proc[o].flagged = false; proc[OWNERS + o].flagged = false }
#ifdef UNREADABLE
	:: d_step { TROUBLE && record[o] == HELD -> unreadable[o] = !unreadable[o] }
#endif
	:: d_step { o >= BINDINGS_OF_A && troubles > 0 && TROUBLE && proc[o].pc != START && proc[o].pc != DOWN -> troubles--; crash(o) }
	:: d_step { o >= BINDINGS_OF_A && troubles > 0 && TROUBLE && proc[o].pc != START && proc[o].pc != DOWN && proc[OWNERS + o].pc == DOWN -> troubles--; succeed(o) }
	od
}

proctype world() {
	do
#ifdef LIVE
	:: d_step { !calm -> calm = true; printf("from now on nothing goes wrong\n") }
	:: d_step { !calm -> calm = true; want[0] = true; printf("from now on nothing goes wrong, A wants it\n") }
	:: d_step { !calm -> calm = true; want[OWNERS - 1] = true; printf("from now on nothing goes wrong, the last owner wants it\n") }
	:: d_step { !calm -> calm = true; exclusive = true; printf("from now on nothing goes wrong, A is exclusive\n") }
	:: d_step { !calm -> calm = true; exclusive = true; want[0] = true; want[OWNERS - 1] = true; printf("from now on nothing goes wrong\n") }
#endif
	:: d_step { group == OUT && !RECORDED && TROUBLE -> printf("a person registers the target\n"); group = STRANGER }
	:: d_step { troubles > 0 && TROUBLE -> troubles--; crash(0);
#if BINDINGS_OF_A > 1
		crash(1)
#endif
	}
	:: d_step { troubles > 0 && TROUBLE && proc[OWNERS].pc == DOWN -> troubles--; succeed(0);
#if BINDINGS_OF_A > 1
		succeed(1)
#endif
	}
	od
}

init {
	byte i;
	d_step {
		i = 0;
		do
		:: i < OWNERS -> proc[i].pc = IDLE; proc[i].fresh = true; i++
		:: else -> break
		od
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
#define LIVES(o) (proc[o].pc != DOWN)
#if OWNERS == 2
#define ALL_LIVE (LIVES(0) && LIVES(1))
#define WANTED (LIVES(0) && want[0] || LIVES(1) && want[1])
#else
#define ALL_LIVE (LIVES(0) && LIVES(1) && LIVES(2))
#define WANTED (LIVES(0) && want[0] || LIVES(1) && want[1] || LIVES(2) && want[2])
#endif
/* L1. Owners that never come back keep what they hold in the group. */
#define RIGHT (WANTED && group == OURS || !WANTED && (!ALL_LIVE || group == OUT || group == STRANGER && !exclusive))
ltl l1 { [] (calm -> <> [] RIGHT) }
#endif
