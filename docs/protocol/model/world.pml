/* What happens to owners, and to the group. */

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

#define RUNS(o) (proc[o].pc != START && proc[o].pc != DOWN)
#define ALONE(o) (o >= BINDINGS_OF_A)
#define UNDER_WAY(o) (proc[o].pc == LEAVING || proc[OWNERS + o].pc == LEAVING)

#define SETTLES(p) ((proc[p].pc == IDLE || proc[p].pc == LOOK && proc[p].fresh) && !proc[OTHER(p)].before)
#define DEREGISTRATIONS_SETTLE(p) (proc[p].leave && SETTLES(p))
#define REGISTRATIONS_SETTLE(p) (proc[p].enter && SETTLES(p))

/* A look that began before does not count: it begins again. */
inline look_anew(p) {
	if
	:: IS(LOOK) && LOOK_AFTER_SETTLING ->
		proc[p].seen = 0; proc[p].hold = false; proc[p].block = false; idle(p)
	:: else
	fi
}

inline settle_deregistrations(p) {
	SAY("the deregistrations of %c are settled\n");
	proc[p].leave = false; own[OWNER(p)].leaving = false; look_anew(p)
}

inline settle_registrations(p) {
	SAY("the registrations of %c are settled\n");
	proc[p].enter = false; own[OWNER(p)].entering = NO_CALL; look_anew(p)
}

/* Time has a process of its own, so that it passes however busy the owner is. */
proctype owner(byte o) {
	do
	/* calls that were given up land at any time, perhaps more than once, or never */
	:: d_step { own[o].entering != NO_CALL && TROUBLE ->
		printf("a late registration of %c lands\n", 'A' + o);
		land_registration(o, own[o].entering == CURRENT) }
	:: d_step { own[o].leaving && TROUBLE ->
		printf("a late deregistration of %c lands\n", 'A' + o);
		land_deregistration(o) }
	:: d_step { own[o].doubt != NO_WRITE && TROUBLE ->
		printf("a late write lands in the record of ");
		SAY_RECORD(o, own[o].doubt - 1);
		land_write(o) }

	/* D has passed on the clock of a process: calls have landed or never will */
	:: d_step { DEREGISTRATIONS_SETTLE(o) -> settle_deregistrations(o) }
	:: d_step { DEREGISTRATIONS_SETTLE(OWNERS + o) -> settle_deregistrations(OWNERS + o) }
	:: d_step { REGISTRATIONS_SETTLE(o) -> settle_registrations(o) }
	:: d_step { REGISTRATIONS_SETTLE(OWNERS + o) -> settle_registrations(OWNERS + o) }

	/* D has passed since the last write: permission has ended, and calls
	 * under it have landed or never will */
	:: d_step { own[o].record == RELEASING && !own[o].aged && (!UNDER_WAY(o) || !CLAIM_WAITS_FOR_D) &&
		IF_CALM(!proc[o].flagged && !proc[OWNERS + o].flagged) ->
		printf("the record of %c has been unchanged for D\n", 'A' + o);
		own[o].aged = true;
		if
		:: CLAIM_WAITS_FOR_D -> own[o].leaving = false
		:: else
		fi;
		if
		:: PERMISSION_ENDS && CLAIM_WAITS_FOR_D -> proc[o].flagged = false; proc[OWNERS + o].flagged = false
		:: else
		fi }
#ifdef UNREADABLE
	:: d_step { TROUBLE && own[o].record == HELD -> own[o].unreadable = !own[o].unreadable }
#endif
	:: d_step { ALONE(o) && MAY_FAIL && RUNS(o) -> troubles--; crash(o) }
	:: d_step { ALONE(o) && MAY_FAIL && RUNS(o) && proc[OWNERS + o].pc == DOWN -> troubles--; succeed(o) }
	od
}

proctype world() {
	do
#ifdef LIVE
	:: d_step { !calm -> calm = true; printf("from now on nothing goes wrong, nobody wants it\n") }
	:: d_step { !calm -> calm = true; want[0] = true; printf("from now on nothing goes wrong, A wants it\n") }
	:: d_step { !calm -> calm = true; want[OWNERS - 1] = true; printf("from now on nothing goes wrong, the last owner wants it\n") }
	:: d_step { !calm -> calm = true; exclusive = true; printf("from now on nothing goes wrong, A is exclusive\n") }
	:: d_step { !calm -> calm = true; exclusive = true; want[0] = true; want[OWNERS - 1] = true; printf("from now on nothing goes wrong, A is exclusive and both want it\n") }
	/* The world goes on where all owners wait: a run that ends would be no
	 * cycle, and pan -f would not see that it ends in the wrong place. */
	:: calm
#endif
	:: d_step { group == OUT && !RECORDED && TROUBLE -> printf("a person registers the target\n"); group = STRANGER }
	:: d_step { MAY_FAIL -> troubles--; crash(0);
#if BINDINGS_OF_A > 1
		crash(1)
#endif
	}
	:: d_step { MAY_FAIL && proc[OWNERS].pc == DOWN -> troubles--; succeed(0);
#if BINDINGS_OF_A > 1
		succeed(1)
#endif
	}
	od
}
