/* SPDX-License-Identifier: GPL-2.0 */
/* State of a running scenario, shared by the files that implement them. */
#ifndef NICPROBE_FRAMES_H
#define NICPROBE_FRAMES_H

#include "trial/load/tcp_load.h"
#include "trial/scenario/suite.h"

/* All counts at one moment, or between two; only numbers of 64 bits. */
struct counts {
	uint64_t sent, refused;
	uint64_t written, read, retransmits;	/* sockets: bytes, and retransmitted segments */
	uint64_t by_cpu[TRAFFIC_CPUS];	/* sent, by CPU */
	struct traffic port, peer;
	struct redirects out, back;
	struct rtnl_link_stats64 port_link, peer_link;
};

struct run {
	struct bench *b;
	struct outcome *o;
	const struct port *from, *to;	/* NULL: other hosts send; no port of ours receives */
	bool transmit;			/* the port sends; otherwise it receives */
	bool redirect;
	bool sockets;			/* use `tcp` instead of the generator */
	struct generator g;
	struct tcp_load tcp;
	struct sink at_port, at_peer;	/* .bpf NULL: none */
	struct redirects_bpf *out;	/* redirects of the generator; NULL: none */
	struct redirects_bpf *back;	/* redirects of the port */
	struct table losses[2];		/* counters of port and peer before the run */
	struct meta meta;		/* of the meters in the second part */
	/* of the whole run; at the beginning of the second part; between two of these */
	struct counts before, after, middle, counted;
};

void tally_take(const struct run *, struct counts *);
/* What was counted from `before` to r->after: r->counted, for the functions below. */
void tally_since(struct run *r, const struct counts *before);

uint64_t headline(const struct run *);	/* the packets that the scenario measures */
void bare_fill(const struct run *);	/* the figures of the first part */
void account_fill(const struct run *);	/* the account of where every packet went */

/*
 * Runs both parts of a prepared scenario and fills the outcome. 0; -EINTR: stopped; or -errno with
 * an error message.
 */
int parts_run(struct run *);

/* Records why the scenario cannot run here; returns 1. */
int scenario_cannot(struct outcome *, const char *why);

/* Opens the generator with the best method that works. 0; 1 and outcome->cannot; or -errno. */
int generator_choose(struct run *);
/* Why frames must not be redirected to a port; NULL: they may. Storage as in text(). */
const char *xmit_harm(const struct port *);
uint64_t generator_cpus(const struct generator *);	/* 1 << CPU */

#endif
