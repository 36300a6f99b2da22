/* The load balancer, and the promises: each is asserted where it would break. */

#define PROMISE(kept, broken) if :: !(kept) -> printf(broken); assert(false) :: else fi
#define RECORDED_PROMISE PROMISE(group != OURS || RECORDED, "S2 is broken: the target is in the group and in no record\n")

inline land_registration(o, current) {
	group = OURS;
	if
	:: current && own[o].record == HELD -> own[o].registered = true
	:: else
	fi;
	RECORDED_PROMISE
}

inline land_deregistration(o) {
	PROMISE(!RELIED(o), "S1 is broken: another owner holds the target and has registered it\n");
	PROMISE(!own[o].registered, "S1 is broken: the owner itself holds the target again\n");
	PROMISE(group != STRANGER || EXCLUSIVE(o), "S3 is broken: a shared binding takes out what a person registered\n");
	group = OUT
}

#define UNDER_PERMISSION(p) (proc[p].pc == LOOK || proc[p].pc == ENTERING || proc[p].pc == LEAVING)

/* A claim ends, and with it what its registrations are for. */
inline end_claim(o) {
	own[o].registered = false;
	proc[o].past = UNDER_PERMISSION(o);
	proc[OWNERS + o].past = UNDER_PERMISSION(OWNERS + o);
	if
	:: own[o].entering == CURRENT -> own[o].entering = EARLIER
	:: else
	fi
}

#define FOR_CLAIM(p) (proc[p].entry == HELD && !proc[p].past)

/* The process no longer waits for what it has under way. */
inline give_up(p) {
	if
	:: IS(ENTERING) && FOR_CLAIM(p) -> own[OWNER(p)].entering = CURRENT
	:: IS(ENTERING) && !FOR_CLAIM(p) && own[OWNER(p)].entering == NO_CALL -> own[OWNER(p)].entering = EARLIER
	:: IS(LEAVING) -> own[OWNER(p)].leaving = true
	:: IS(DOUBT) && own[OWNER(p)].doubt != NO_WRITE && own[OWNER(p)].doubt != WRITE(HELD) -> end_claim(OWNER(p))
	:: else
	fi
}
