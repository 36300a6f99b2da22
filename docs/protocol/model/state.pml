/* The state: what is in the group and the table, and what each process knows. */

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

/* registrations whose process no longer waits for them */
#define NO_CALL 0
#define EARLIER 1		/* for a claim that has ended since */
#define CURRENT 2

/* a write whose process has no answer: NO_WRITE or WRITE(entry) */
#define NO_WRITE 0
#define WRITE(entry) ((entry) + 1)

/* where a process is */
#define DOWN 0
#define START 1
#define IDLE 2
#define LOOK 3			/* has read some of the records */
#define ENTERING 4		/* a registration is under way */
#define LEAVING 5		/* a deregistration is under way */
#define DROPPING 6		/* about to write the entry out of its record */
#define DOUBT 7			/* a write of it has no answer */

/* What the world holds of one owner. */
typedef Owner {
	unsigned record : 2;
	unsigned aged : 1;		/* releasing, and unchanged for D */
	unsigned unreadable : 1;	/* to others: a newer schema */
	unsigned doubt : 2;		/* a write that may land, or never */
	unsigned leaving : 1;		/* deregistrations that were given up and may land */
	unsigned entering : 2;		/* registrations that were given up and may land */
	unsigned registered : 1;	/* by this owner, which relies on it since */
};

typedef Process {
	unsigned pc : 3;
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

Owner own[OWNERS];
Process proc[2 * OWNERS];	/* o: the leader of owner o; OWNERS + o: the one before it, a for A */
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
#define TAKES(o) (EXCLUSIVE(o) || !SHARED_TAKES_NOTHING)
#define IF_CALM(x) true
#endif

#if OWNERS == 2
#define ANY(field, value) (own[0].field == value || own[1].field == value)
#define RELIED(o) (own[1 - o].registered)
#else
#define ANY(field, value) (own[0].field == value || own[1].field == value || own[2].field == value)
#define RELIED(o) (o != 0 && own[0].registered || o != 1 && own[1].registered || o != 2 && own[2].registered)
#endif
#define RECORDED (ANY(record, HELD) || ANY(record, RELEASING))

#define OWNER(p) ((p) % OWNERS)
#define LEADER(p) ((p) < OWNERS)
#define OTHER(p) ((p + OWNERS) % (2 * OWNERS))
#define NAME(p) ((LEADER(p) -> 'A' : 'a') + OWNER(p))	/* a is the process before A */

#define IS(x) (proc[p].pc == x)
#define ENTRY(x) (proc[p].entry == x)
#define PRESENT(x) (proc[p].presence == x)

#define SAY(text) printf(text, NAME(p))
#define SAY_RECORD(o, entry) \
	if \
	:: (entry) == NONE -> printf("%c: none\n", NAME(o)) \
	:: (entry) == HELD -> printf("%c: held\n", NAME(o)) \
	:: else -> printf("%c: releasing\n", NAME(o)) \
	fi
