/* SPDX-License-Identifier: GPL-2.0 */
/* A finding: what is wrong now, what it costs, and the command that mends it. */
#ifndef NICPROBE_FINDINGS_H
#define NICPROBE_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_FINDINGS	32	/* past it they are dropped: nobody reads the 33rd */
#define MAX_FACTS	8	/* of a finding */
#define FIX_ROOM	700	/* bytes of a command */
#define MAX_FIXES	4	/* commands of a finding, to be run one after the other */

/* How bad it is; in rising order. */
enum severity {
	SEVERITY_INFO,		/* it limits what nicprobe can tell, or was meant by somebody */
	SEVERITY_WARNING,	/* it costs time, or loss is near */
	SEVERITY_CRITICAL,	/* packets that somebody wanted are lost, or none flow */
	NR_SEVERITIES
};

/* What it costs; of two findings of one severity the one that stands first here is shown first. */
enum harm {
	HARM_LOSS,		/* packets per second that are lost */
	HARM_WAIT,		/* seconds that a packet waits (the median) */
	HARM_WORK,		/* packets per second that cost more CPU time than they need to */
	HARM_RISK,		/* nothing yet: the share of a limit, or of its parts, 0 to 1 */
	HARM_BLIND,		/* packets per second that nicprobe does not see, or not in full */
	NR_HARMS
};

/* A number that decides whether a finding speaks: code compares with it, the manual quotes it. */
struct limit {
	double value;
	const char *text;	/* "10 packets in the window", "80 % of a queue" */
};

/* What has to be there before anybody can say that all is well. */
struct rests {
	enum { REST_ALWAYS, REST_RECEIVED, REST_SENT, REST_EITHER } packets;	/* that went by */
	uint64_t all;	/* 1 << METER_x: figures that it does not do without; SETUP: settings */
	uint64_t any;	/* …that add to these; where there are none of these, one will do */
};

#define SETUP		(1ull << 63)	/* of the interface: `nicprobe show IFACE hw` */

#define MAX_LIMITS	5
#define MAX_CAUSES	12

/* One sort of finding. Its id stays the same over all versions; alerts are written on it. */
struct finding_kind {
	const char *id;			/* "rx-one-flow" */
	enum severity severity;
	enum harm harm;
	const char *title;		/* "One flow fills a receive queue" */
	const char *means;		/* what happens in the machine, and why it hurts */
	const char *when;		/* when it speaks; {1} is the text of limits[0] */
	const char *silent;		/* what looks like it and is not meant; NULL: nothing */
	const char *remedy;		/* what helps; the finding itself has the command */
	const char *symptom;		/* what a user notices first: "one connection is slow" */
	const struct limit *limits[MAX_LIMITS];
	struct rests rests;
	/* Findings that this one follows from: beside one of these it is folded under it. */
	const char *follows[MAX_CAUSES];
};
/* How bad a kind is, and what it costs: RATED(WARNING, RISK). */
#define RATED(how, cost) .severity = SEVERITY_##how, .harm = HARM_##cost
/* Which packets and figures it rests on: RESTS(RECEIVED, ON(rxcpu) | SETUP, ON(flow)). */
#define RESTS(which, those, others) \
	.rests = { .packets = REST_##which, .all = those, .any = others }
#define ON(meter) (1ull << METER_##meter)

struct fact {
	const char *name;		/* "share", "ring" */
	double value;
	const char *unit;		/* "packets", "ratio", "seconds" */
};

struct finding {
	const struct finding_kind *kind;
	enum severity severity;		/* the kind's, unless this one is worse or milder */
	int queue;			/* -1: it is not of one queue… */
	unsigned others;		/* …and of so many more queues, where it costs less */
	int under;			/* place in `list` of that it is folded under; -1: none */
	double harm;			/* in the kind's unit */
	double struck;			/* packets per second that it concerns */
	char what[360];			/* "queue 0 carries 91% of the packets" */
	char advice[360];		/* a sentence; "": the commands say all */
	char changes[120];		/* what the commands change: "RX ring of 256 to 1024" */
	bool host;			/* they are for the host's namespace, not the interface's */
	unsigned nr_fixes;
	char fixes[MAX_FIXES][FIX_ROOM];	/* words, each ended by 0; the last by two */
	unsigned nr_facts;
	struct fact facts[MAX_FACTS];
};

/* What would have been found before, and is not now. */
struct earlier {
	const struct finding_kind *kind;
	uint64_t packets;		/* since attach */
	double ago;			/* seconds since the last time it would have been */
};

#define MAX_EARLIER	8

struct findings {
	unsigned nr;
	struct finding list[MAX_FINDINGS];
	unsigned nr_earlier;		/* the latest first */
	struct earlier earlier[MAX_EARLIER];
};

/* Of a struct of 125 kB only what is there. */
void findings_copy(struct findings *to, const struct findings *from);
void findings_clear(struct findings *);

/*
 * A new finding, whose other parts the functions below fill in. NULL where there is no room, or
 * where one of this kind and queue is there already: the functions below take that, and do nothing.
 * Of one kind the queue where it costs most is kept. What was returned before is good no more.
 */
__attribute__((format(printf, 4, 5)))
struct finding *finding_add(struct findings *, const struct finding_kind *, int queue,
			    const char *what, ...);
/* What it costs, in the unit of its kind. */
void finding_harm(struct finding *, double amount);
/*
 * How many packets per second it concerns, where the harm is not their number: those that wait,
 * that are held up, or that pass a setting.
 */
void finding_strikes(struct finding *, double packets);
/* A number that the sentence rests on. `name` and `unit` must stay where they are. */
void finding_fact(struct finding *, const char *name, double value, const char *unit);
/* What helps, in words. */
__attribute__((format(printf, 2, 3)))
void finding_advise(struct finding *, const char *advice, ...);
/* A command that helps: finding_fix(f, "ethtool", "-K", dev, "gro", "on"), a word each. */
#define finding_fix(f, ...) finding_fix_words(f, (const char *const []){ __VA_ARGS__, NULL })
void finding_fix_words(struct finding *, const char *const *words);	/* ends with NULL */
/* What the commands change; said once for all of them. */
__attribute__((format(printf, 2, 3)))
void finding_changes(struct finding *, const char *what, ...);

/* Is there one of this id? */
const struct finding *finding_find(const struct findings *, const char *id);

/* Folds what follows from another under it, and puts the worst first. */
void findings_order(struct findings *);
/* Those that stand by themselves, so are not folded. */
unsigned findings_count(const struct findings *, enum severity at_least);

/* The commands as typed in a shell, joined by "; ", and what is to be said beside them. */
void finding_try(const struct finding *, char *text, size_t size);
/* One command as a shell reads it, with quotes where it needs them. */
void fix_text(const char *words, char *text, size_t size);

/* Below 0: `a` costs more, by severity, kind of harm and amount; for qsort(). */
int finding_worse(const struct finding *a, const struct finding *b);

/* "12.3k packets/s lost", "80 ms for 50 packets/s": what it costs, for people. As text(). */
const char *harm_text(const struct finding *);

extern const char *const severity_names[NR_SEVERITIES];	/* "info", "warning", "critical" */
extern const char *const harm_names[NR_HARMS];		/* "loss", "wait", … */
extern const char *const harm_units[NR_HARMS];		/* "packets/s", "seconds", … */

/* "32.8 us", "1.12 s": as text(). */
const char *finding_time(double seconds);

/* A text of a kind, with {1} to {5} replaced by its limits. */
void kind_text(const struct finding_kind *, const char *template, char *text, size_t size);

#endif
