/* SPDX-License-Identifier: GPL-2.0 */
/* What the scenarios that send frames have in common, while one runs. */
#ifndef NICPROBE_FRAMES_H
#define NICPROBE_FRAMES_H

#include "trial/load/tcp.h"
#include "trial/scenario/suite.h"

struct run {
	struct bench *b;
	struct outcome *o;
	const struct port *from, *to;	/* NULL: somebody else sends, or nobody here receives */
	bool transmit;			/* the port sends, it does not receive */
	bool redirect;
	bool sockets;			/* by `tcp`, and not by the generator */
	struct generator g;
	struct tcp tcp;
	struct sink at_port, at_peer;	/* .bpf NULL: there is none */
	struct redirects_of out;	/* of what the generator redirects */
	struct redirects_of back;	/* of what the port redirects */
	struct table losses[2];		/* of port and peer, before */
};

struct tally {			/* all that is counted, at one moment */
	uint64_t sent, refused;
	uint64_t written, read, retransmits;	/* bytes by sockets, and segments sent again */
	uint64_t by_cpu[TRAFFIC_CPUS];	/* sent */
	struct traffic port, peer;
	struct redirects out, back;
	struct rtnl_link_stats64 port_link, peer_link;
};

void tally_take(const struct run *, struct tally *);

/* The packets that a scenario is about, between two moments. */
uint64_t headline(const struct run *, const struct tally *before, const struct tally *after);
/* The figures of the first part. */
void bare_fill(const struct run *, const struct tally *before, const struct tally *after);
/* Where every packet went. */
void account_fill(const struct run *, const struct tally *before, const struct tally *after);

/*
 * Runs both parts of a scenario that is prepared: fills the outcome. 0; -EINTR: it was stopped;
 * or -errno and a complaint.
 */
int parts_run(struct run *);

/* Opens the generator, by the best way that works. 0; 1 and outcome->cannot; or -errno. */
int generator_choose(struct run *);
/* Why no frames may be redirected to a port, NULL: they may. As text(). */
const char *xmit_harm(const struct port *);
uint64_t generator_cpus(const struct generator *);	/* 1 << CPU */

#endif
