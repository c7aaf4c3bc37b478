/* SPDX-License-Identifier: GPL-2.0 */
/* Benchmarks of a port by scenarios: the request and the outcomes. */
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
struct error;
struct outcome;

struct scenario {
	const char *name, *help;
	/* 0; 1: outcome->cannot tells why it cannot run here; or -errno with an error message */
	int (*run)(struct bench *, struct outcome *);
	unsigned action;	/* enum xdp_action of the program on a receiving port */
	bool transmits;		/* the port sends */
	bool needs_peer;	/* without a peer, only runs if requested by name */
};

#define SCENARIOS(S) S(rx_drop) S(rx_pass) S(tx) S(redirect) S(rx_tcp) S(tx_tcp)
#define S(name) extern const struct scenario scenario_##name;
SCENARIOS(S)
#undef S
extern const struct scenario *const scenarios[];	/* NULL-terminated */

/* A line of the account: sent = arrived + lost (one line per cause) + unexplained. */
enum account_kind { ACCOUNT_SENT, ACCOUNT_LOST, ACCOUNT_ARRIVED, ACCOUNT_UNEXPLAINED, NR_ACCOUNTS };
struct account {
	enum account_kind kind;
	unsigned stage;		/* 0: to the port; 1: back, for redirect */
	char what[200];
	int64_t packets;	/* or bytes; negative: more arrived than were sent */
};

struct outcome {		/* of a scenario in one round */
	const struct scenario *scenario;
	char cannot[320];	/* why it did not run; "": it ran */
	char how[200];		/* the sender: "XDP live frames from blue/eth0, 2 threads" */
	char limit[400];	/* what limited the rate */
	char remark[REMARKS_MAX][240];	/* caveats about these figures; "" */

	/* The first part, without meters. */
	double seconds;
	uint64_t packets, bytes;
	uint64_t sent;		/* 0: other hosts or sockets send */
	bool sockets;		/* the account is in bytes */
	uint64_t retransmits;
	struct traffic where;	/* packets by queue and CPU; bytes and others unused */
	char queues_of[96];	/* the port of these queues and CPUs; "": unknown */
	uint64_t receiving;	/* 1 << CPU of the receiving CPUs below 64 */
	struct effort effort;
	double others;		/* seconds that other work took of the sending CPUs */

	/* The second part, with meters. */
	bool metered;
	double metered_packets, metered_seconds;
	bool places;		/* use queues and CPUs of `seen` instead of `where` */
	struct seen seen;

	/* Both parts, including packets that arrived late. */
	unsigned lines;
	struct account account[ACCOUNT_MAX];
};

struct bench {
	struct error *error;		/* where whoever fails writes the reason */
	struct port port, peer;
	bool has_peer, peer_found;	/* peer_found: without --peer */
	bool force, mine[2];		/* mine: we may attach XDP to port, peer */
	struct load load;
	enum how how;
	double seconds;			/* per scenario, both parts */
	unsigned connections;		/* TCP connections */
	const struct scenario *wanted[SCENARIOS_MAX + 1];
	bool asked;			/* …by name: one that cannot run is an error */
	/* Called before each scenario; may be NULL. */
	void (*starts)(const struct bench *, const struct scenario *);
	char no_meters[240];		/* why there are no meters; "" */
	struct pmus pmus;
	struct outcome outcome[SCENARIOS_MAX];	/* of the last round */
	unsigned outcomes;
};

/*
 * Opens the ports by their labels (`peer` may be NULL), finds a veth's peer, replaces 0 in `load`
 * by defaults, and rejects harmful requests. 0, or -errno with an error message.
 */
int bench_open(struct bench *, const char *port, const char *peer, struct error *);
void bench_close(struct bench *);

/*
 * Runs all wanted scenarios; a trial_round with a struct bench. -EINTR: stopped; -EOPNOTSUPP: a
 * requested scenario cannot run, the others ran.
 */
int bench_round(void *bench, struct result *, struct error *);

/* The harm that live frames do with this driver in this version of Linux; NULL: none. */
const char *live_harms(const struct driver *, unsigned version);
/* Would redirected frames crash the kernel, with this many queues in use of at most `most`? */
bool xmit_harms(const struct driver *, unsigned queues, unsigned most, unsigned cpus);

/* How attaching XDP disturbs a hardware port: "resets the card"; NULL: not at all. */
const char *bench_disturbs(const struct bench *, const struct port *);

/* Waits for the carrier: some drivers take the link down for a new program or setting. */
void carrier_await(const struct port *);

/* The figures of an outcome, each called "SCENARIO name". */
void outcome_figures(const struct bench *, const struct outcome *, struct result *);
__attribute__((format(printf, 4, 5)))
void account_add(struct outcome *, enum account_kind, int64_t packets, const char *what, ...);
int64_t account_sum(const struct outcome *, unsigned stage, enum account_kind);
/* The unexplained rest of a stage: sent - lost - arrived. */
int64_t account_rest(const struct outcome *, unsigned stage);
/* Writes to outcome->limit what limited the rate. */
void limit_find(const struct bench *, struct outcome *, uint64_t generator_cpus);

#endif
