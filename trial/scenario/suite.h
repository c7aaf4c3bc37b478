/* SPDX-License-Identifier: GPL-2.0 */
/* What a port can do, by scenarios: what was asked for, and what came out. */
#ifndef NICPROBE_BENCH_H
#define NICPROBE_BENCH_H

#include "lib/core/nic_driver.h"
#include "trial/load/generator.h"
#include "trial/load/traffic.h"
#include "trial/scenario/effort.h"
#include "trial/scenario/watch.h"
#include "trial/stats/trial.h"

#define SCENARIOS_MAX	8
#define ACCOUNT_MAX	24
#define REMARKS_MAX	3

struct bench;
struct outcome;

struct scenario {
	const char *name, *help;
	/* 0; 1: outcome->cannot says why it makes no sense here; or -errno and a complaint */
	int (*run)(struct bench *, struct outcome *);
	bool transmits;		/* the port sends */
	bool needs_peer;	/* not among those that are run unasked without one */
};

#define SCENARIOS(S) S(rx_drop) S(rx_pass) S(tx) S(redirect) S(rx_tcp) S(tx_tcp)
#define S(name) extern const struct scenario scenario_##name;
SCENARIOS(S)
#undef S
extern const struct scenario *const scenarios[];	/* ends with NULL */

/* A line of the account: what was sent is what arrived and was lost, by name, and `unexplained`. */
enum account_kind { ACCOUNT_SENT, ACCOUNT_LOST, ACCOUNT_ARRIVED, ACCOUNT_UNEXPLAINED };
struct account {
	enum account_kind kind;
	unsigned stage;		/* 0: there; 1: and back, of a redirect */
	char what[200];
	int64_t packets;	/* or bytes; negative: more arrived than was sent */
};

struct outcome {		/* of a scenario, in one round */
	const struct scenario *scenario;
	char cannot[320];	/* why it was not run; "": it was */
	char how[200];		/* who sent: "XDP live frames from blue/eth0, 2 threads" */
	char limit[400];	/* what kept it from being more */
	char remark[REMARKS_MAX][240];	/* what is to be known of these figures; "" */

	/* The first part: nothing else runs. */
	double seconds;
	uint64_t packets, bytes;
	uint64_t sent;		/* 0: somebody else sends, or sockets do */
	bool sockets;		/* the account is of bytes */
	uint64_t retransmits;
	struct traffic where;	/* packets by queue and CPU; bytes and others unused */
	char queues_of[96];	/* whose queues and CPUs; "": not known */
	uint64_t receiving;	/* 1 << CPU, of those below 64 that took packets here */
	struct effort effort;
	double others;		/* seconds that other work had of those CPUs that send */

	/* The second: with nicprobe's meters. */
	bool metered;
	double metered_packets, metered_seconds;
	bool places;		/* queues and CPUs are those of `seen`, not of `where` */
	struct seen seen;

	/* Both, and what came late. */
	unsigned lines;
	struct account account[ACCOUNT_MAX];
};

struct bench {
	struct port port, peer;
	bool has_peer, peer_found;	/* found: nobody named it */
	bool force, mine[2];		/* mine: XDP on port and peer is free for us */
	struct load load;
	enum how how;
	double seconds;			/* of each scenario: both parts */
	unsigned connections;		/* of sockets */
	const struct scenario *wanted[SCENARIOS_MAX + 1];
	bool asked;			/* …by name: what cannot be done is an error */
	void (*starts)(const struct bench *, const struct scenario *);	/* …now; or NULL */
	char no_meters[240];		/* why there are no meters; "" */
	struct pmus pmus;
	struct outcome outcome[SCENARIOS_MAX];	/* of the last round */
	unsigned outcomes;
};

/*
 * Opens the ports by their labels (`peer` may be NULL), finds a veth's peer, fills what is 0 in
 * `load` with what suits, and refuses what would do harm. 0, or -errno and a complaint.
 */
int bench_open(struct bench *, const char *port, const char *peer);
void bench_close(struct bench *);

/*
 * Runs every scenario that is wanted: a trial_round, of a struct bench. -EINTR: it was stopped;
 * -EOPNOTSUPP: one that was asked for cannot be run, the others were.
 */
int bench_round(void *bench, struct result *);

/* What live frames would do that this driver sends, in this version of Linux; NULL: no harm. */
const char *live_harms(const struct driver *, unsigned version);
/* Would the kernel die of frames redirected to it, with so many queues in use of at most `most`? */
bool xmit_harms(const struct driver *, unsigned queues, unsigned most, unsigned cpus);

/* What our programs disturb on a port of hardware: "takes it down and up again"; NULL: nothing. */
const char *bench_disturbs(const struct bench *, const struct port *);

/* Some drivers bring their link down for a new program, and for most else. */
void carrier_await(const struct port *);

/* The figures of an outcome, each called "SCENARIO name". */
void outcome_figures(const struct bench *, const struct outcome *, struct result *);
__attribute__((format(printf, 4, 5)))
void account_add(struct outcome *, enum account_kind, int64_t packets, const char *what, ...);
/* What is still unexplained of a stage: sent less lost less arrived. */
int64_t account_rest(const struct outcome *, unsigned stage);
/* Says in outcome->limit what kept it from being more. */
void limit_find(const struct bench *, struct outcome *, uint64_t generator_cpus);

#endif
