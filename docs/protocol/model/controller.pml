/* A process of an owner. It flags, looks and calls, one step at a time. */

/* Two leaders are trouble, and in the end there is one. */
#define STARTS (IS(START) && (LEADER(p) || TROUBLE))
/* A look begins with its own record, which is when it is least likely to find
 * itself succeeded. */
#define LOOKS (IS(LOOK) || IS(IDLE) && (CLAIMS || RELEASES))
#define CLAIMS (ENTRY(HELD) && WANTS(o) && !PRESENT(REGISTERED))
#define RELEASES (ENTRY(RELEASING) && UNWANTED(o) && (proc[p].flagged || PRESENT(GONE)))
#define MAY_FAIL (troubles > 0 && TROUBLE)
#define REFLAGS (FLAGS_ANEW && ENTRY(RELEASING) && UNWANTED(o) && !proc[p].flagged && !PRESENT(GONE))
#define CLAIMS_BACK (ENTRY(RELEASING) && WANTS(o) && (!proc[p].leave || !CLAIM_BACK_SETTLES))

/* D counts from here: what the process before was allowed until now. */
inline count(p) {
	proc[OTHER(p)].before = UNDER_PERMISSION(OTHER(p))
}

inline take_over(p, to) {
	if
	:: !TAKE_OVER_KEEPS -> write(p, NONE)
	:: TAKE_OVER_KEEPS && (TAKE_OVER_WRITES || own[OWNER(p)].record != to) -> write(p, to)
	:: else -> know(p, to)
	fi;
	count(p);
	proc[p].enter = ENTRY(HELD) && TAKE_OVER_SETTLES || ENTRY(RELEASING) && TAKE_OVER_SETTLES;
	proc[p].pc = IDLE
}

inline flag(p, to) {
	if
	:: to == HELD && CLAIM_BEFORE_CALL || to != HELD && FLAG_BEFORE_LOOK -> write(p, to)
	:: else -> know(p, to)
	fi
}

inline in_doubt(p, to) {
	troubles--;
	own[OWNER(p)].doubt = WRITE(to);
	proc[p].pc = DOUBT
}

proctype controller(byte p; byte o) {
	do
	/* it reads its record, and writes one that another process left */
	:: d_step { STARTS && own[o].record == NONE ->
		SAY("%c starts\n"); proc[p].fresh = true; proc[p].pc = IDLE }
	:: d_step { STARTS && own[o].record == HELD && WANTS(o) ->
		SAY("%c starts and writes the record that it finds: held\n");
		take_over(p, HELD); proc[p].presence = INHERITED }
	:: d_step { STARTS && own[o].record == HELD && UNWANTED(o) ->
		SAY("%c starts and writes the record that it finds: held, now releasing\n");
		take_over(p, RELEASING) }
	:: d_step { STARTS && own[o].record == RELEASING ->
		SAY("%c starts and writes the record that it finds: releasing\n");
		take_over(p, RELEASING);
		proc[p].leave = proc[p].enter; proc[p].late = proc[p].enter }

	/* flag */
	:: d_step { IS(IDLE) && ENTRY(NONE) && WANTS(o) -> SAY("%c claims: held\n"); flag(p, HELD) }
	:: d_step { IS(IDLE) && ENTRY(NONE) && UNWANTED(o) && TAKES(o) ->
		SAY("%c, exclusive, takes what nobody recorded: releasing\n"); flag(p, RELEASING) }
	:: d_step { IS(IDLE) && ENTRY(HELD) && UNWANTED(o) -> SAY("%c releases: releasing\n"); flag(p, RELEASING) }
	:: d_step { IS(IDLE) && CLAIMS_BACK ->
		SAY("%c claims back: held\n"); flag(p, HELD);
		if
		:: CLAIM_BACK_REGISTERS
		:: else -> own[o].registered = true
		fi }
	:: d_step { IS(IDLE) && REFLAGS -> SAY("%c flags anew: releasing\n"); flag(p, RELEASING) }

	/* look */
	:: d_step { LOOKS && o != 0 && !(proc[p].seen & 1) -> look_at(p, 0) }
	:: d_step { LOOKS && o != 1 && !(proc[p].seen & 2) -> look_at(p, 1) }
#if OWNERS > 2
	:: d_step { LOOKS && o != 2 && !(proc[p].seen & 4) -> look_at(p, 2) }
#endif

	/* register, or find it registered */
	:: d_step { IS(ENTERING) ->
		SAY("the registration of %c lands\n");
		land_registration(o, FOR_CLAIM(p));
		proc[p].presence = (ENTRY(HELD) -> CONFIRMED : REGISTERED);
		if
		:: ENTRY(RELEASING) && !LOOK_AFTER_GIVING_BACK && SETTLED(p) -> proc[p].pc = DROPPING
		:: else -> idle(p)
		fi }
	:: d_step { IS(ENTERING) && ENTRY(HELD) && (PRESENT(INHERITED) || !LISTING_CONFIRMS_NO_CLAIM) && IF_CALM(group != OUT) ->
		SAY("%c finds the target listed\n");
		own[o].registered = true; proc[p].presence = CONFIRMED; idle(p) }

	/* deregister */
	:: d_step { IS(LEAVING) ->
		SAY("the deregistration of %c lands\n");
		land_deregistration(o);
		if
		:: proc[p].enter && GONE_AFTER_REGISTRATIONS -> idle(p)
		:: else ->
			proc[p].presence = GONE;
			if
			:: SETTLED(p) -> proc[p].pc = DROPPING	/* by the look of before */
			:: else -> idle(p)
			fi
		fi }

	/* drop */
	:: d_step { IS(DROPPING) -> SAY("%c drops: none\n"); write(p, NONE); idle(p) }

	/* calls are refused, or have no answer */
	:: d_step { (IS(ENTERING) || IS(LEAVING)) && TROUBLE -> SAY("the call of %c is refused\n"); idle(p) }
	:: d_step { IS(ENTERING) && MAY_FAIL ->
		SAY("no answer to the registration of %c\n");
		troubles--; give_up(p); proc[p].enter = REGISTRATION_SETTLES; idle(p) }
	:: d_step { IS(LEAVING) && MAY_FAIL ->
		SAY("no answer to the deregistration of %c\n");
		troubles--; give_up(p); proc[p].leave = DEREGISTRATION_SETTLES; proc[p].late = true; idle(p) }

	/* writes have no answer: they may land, until another write */
	:: d_step { IS(IDLE) && MAY_FAIL && (ENTRY(NONE) && WANTS(o) || CLAIMS_BACK) && own[o].doubt == NO_WRITE ->
		SAY("no answer to a claim of %c: held\n"); in_doubt(p, HELD) }
	:: d_step { IS(IDLE) && MAY_FAIL && (ENTRY(NONE) && TAKES(o) || ENTRY(HELD) || REFLAGS) && own[o].doubt == NO_WRITE ->
		SAY("no answer to a release of %c: releasing\n"); in_doubt(p, RELEASING) }
	:: d_step { IS(DROPPING) && MAY_FAIL && own[o].doubt == NO_WRITE ->
		SAY("no answer to a drop of %c: none\n"); in_doubt(p, NONE) }
	:: d_step { IS(DOUBT) && own[o].doubt == NO_WRITE ->
		SAY("%c finds its write\n");
		know(p, own[o].record); proc[p].flagged = ENTRY(RELEASING) && !own[o].aged; idle(p) }
	:: d_step { IS(DOUBT) && own[o].doubt != NO_WRITE && !DOUBT_IS_WRITTEN_OVER ->
		SAY("%c does not find its write\n"); idle(p) }
	:: d_step { IS(DOUBT) && own[o].doubt != NO_WRITE && WANTS(o) && (!ENTRY(RELEASING) || !proc[p].leave) ->
		SAY("%c does not find its write, and writes: held\n"); write(p, HELD); idle(p) }
	:: d_step { IS(DOUBT) && own[o].doubt != NO_WRITE && (ENTRY(RELEASING) || UNWANTED(o) && (ENTRY(HELD) || TAKES(o))) ->
		SAY("%c does not find its write, and writes: releasing\n"); write(p, RELEASING); idle(p) }
	:: d_step { IS(DOUBT) && own[o].doubt != NO_WRITE && UNWANTED(o) && ENTRY(NONE) ->
		SAY("%c does not find its write, and writes: none\n"); write(p, NONE); idle(p) }

#ifdef LIVE
	/* the comparison with the group */
	:: d_step { IS(IDLE) && ENTRY(HELD) && PRESENT(REGISTERED) && COMPARES && IF_CALM(group == OUT) -> proc[p].presence = UNKNOWN }
#endif

	/* a process that was succeeded may end anywhere */
#ifdef LIVE
	:: d_step { calm && !LEADER(p) && (IS(IDLE) || IS(START)) -> forget(p); proc[p].pc = DOWN }
	/* a cluster whose controller never comes back */
	:: d_step { !calm && LEADER(p) && IS(START) -> proc[p].pc = DOWN }
#endif
	:: d_step { !LEADER(p) && !IS(DOWN) -> SAY("%c ends\n"); give_up(p); forget(p); proc[p].pc = DOWN }
	od
}
