/* The table: conditional writes, and the look. */

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

/* A pass that finds itself succeeded ends, and the next begins anew. */
inline succeeded(p) {
	printf("%c finds its record written by another process\n", NAME(p));
	forget(p);
	proc[p].pc = ((LEADER(p) || RETURNS) -> START : DOWN)
}

/* Another write than that of the process makes what it knows old. It finds
 * out at its next look or write, before it does anything else, so that only a
 * look goes on: of what it has under way nothing depends on the answer. */
inline outdate(p) {
	if
	:: WRITES_ARE_CONDITIONAL && proc[p].fresh ->
		proc[p].fresh = false;
		if
		:: !IS(LOOK) -> give_up(p); succeeded(p)
		:: else
		fi
	:: else
	fi
}

/* The record changes, and what else was to be written fails its condition. */
inline store(o, to) {
	if
	:: to == HELD && group == STRANGER -> group = OURS
	:: else
	fi;
	own[o].record = to;
	own[o].aged = false;
	own[o].doubt = NO_WRITE;
	own[o].unreadable = own[o].unreadable && to == HELD
}

inline know(p, to) {
	proc[p].entry = to;
	proc[p].presence = UNKNOWN;
	proc[p].flagged = (to == RELEASING);
	proc[p].late = proc[p].late && to == RELEASING;
	proc[p].fresh = true
}

inline write(p, to) {
	if
	:: to != HELD -> end_claim(OWNER(p))
	:: else
	fi;
	store(OWNER(p), to);
	know(p, to);
	outdate(OTHER(p));
	RECORDED_PROMISE
}

/* A write that had no answer lands. Its process, if it still waits, is the
 * one in doubt. */
inline land_write(o) {
	if
	:: own[o].doubt != WRITE(HELD) && (proc[o].pc == DOUBT || proc[OWNERS + o].pc == DOUBT) -> end_claim(o)
	:: else
	fi;
	store(o, own[o].doubt - 1);
	if
	:: proc[o].pc != DOUBT -> outdate(o)
	:: else
	fi;
	if
	:: proc[OWNERS + o].pc != DOUBT -> outdate(OWNERS + o)
	:: else
	fi;
	RECORDED_PROMISE
}

/* ---- the look ---- */

#define TO_RELEASE(p) (proc[p].entry == RELEASING)
#define MAY_DEREGISTER(p) (TO_RELEASE(p) && !proc[p].hold && !proc[p].block && proc[p].presence != GONE && proc[p].flagged)
#define MAY_GIVE_BACK(p) (TO_RELEASE(p) && proc[p].hold && proc[p].late && GIVES_BACK && proc[p].presence != REGISTERED && !proc[p].leave)
#define SETTLED(p) (!proc[p].leave && !proc[p].enter)
#define MAY_DROP(p) (TO_RELEASE(p) && SETTLED(p) && \
	(proc[p].hold && (!proc[p].late || !GIVES_BACK || proc[p].presence == REGISTERED) || \
	proc[p].presence == GONE && !proc[p].hold && !proc[p].block))

inline idle(p) {
	proc[p].pc = IDLE;
	proc[p].past = false;
	proc[p].before = false
}

/* The look is complete, and what it allows begins. A permission that is not
 * used in time is a call that is refused. */
inline conclude(p) {
	if
	:: !FLAG_BEFORE_LOOK && proc[p].fresh && own[OWNER(p)].record != proc[p].entry -> write(p, proc[p].entry)
	:: else
	fi;
	if
	:: proc[p].entry == HELD && !proc[p].block ->
		printf("%c may register\n", NAME(p)); proc[p].pc = ENTERING
	:: MAY_DEREGISTER(p) ->
		printf("%c may deregister\n", NAME(p)); proc[p].pc = LEAVING
	:: MAY_GIVE_BACK(p) ->
		printf("%c may register for the holder, to give back\n", NAME(p));
		proc[p].presence = UNKNOWN; proc[p].pc = ENTERING
	:: MAY_DROP(p) -> proc[p].pc = DROPPING
	:: else -> idle(p)
	fi;
	proc[p].hold = false;
	proc[p].block = false;
	if
	:: !proc[p].fresh -> give_up(p); succeeded(p)
	:: else
	fi
}

inline look_at(p, i) {
	SAY("%c reads the record of ");
	SAY_RECORD(i, own[i].record);
	proc[p].seen = proc[p].seen | (1 << i);
	if
	:: proc[p].entry == HELD ->
		proc[p].block = proc[p].block || CLAIM_WAITS && !own[i].unreadable && own[i].record == RELEASING && !(own[i].aged && CLAIM_WAITS_NO_LONGER)
	:: else ->
		proc[p].hold = proc[p].hold || RELEASE_YIELDS && !own[i].unreadable && own[i].record == HELD;
		proc[p].block = proc[p].block || UNREADABLE_BLOCKS && own[i].unreadable
	fi;
	if
	:: (proc[p].seen | (1 << OWNER(p))) != ALL -> proc[p].pc = LOOK
	:: else -> proc[p].seen = 0; conclude(p)
	fi
}
