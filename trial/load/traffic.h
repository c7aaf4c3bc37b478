/* SPDX-License-Identifier: GPL-2.0 */
/* How many packets, and where: what the ends of a trial count. */
#ifndef NICPROBE_TRAFFIC_H
#define NICPROBE_TRAFFIC_H

#include <stdint.h>

#include "trial/load/live.h"
#include "trial/scenario/port.h"

#define TRAFFIC_QUEUES	128	/* the last of each: it and all above */
#define TRAFFIC_CPUS	256

struct traffic {
	uint64_t packets, bytes;
	uint64_t others;	/* packets that the generator did not send, by their size */
	uint64_t queue[TRAFFIC_QUEUES], cpu[TRAFFIC_CPUS];	/* packets */
};

/* An XDP program of ours on a port; it goes with the process. */
struct sink {
	struct sink_bpf *bpf;
	int link;
	unsigned rows;
	int generic;		/* after the skb was made: the driver's errno; 0: it is native */
};

/*
 * `action` as in struct sink_config; only frames of this size, `tagged` or not, are ours; 0: all
 * are. 0, or -errno and a complaint.
 */
int sink_open(struct sink *, const struct port *, __u32 action, unsigned size, bool tagged);
void sink_read(const struct sink *, struct traffic *);
void sink_close(struct sink *);

/* What became of frames that were redirected to a port. */
struct redirects_of {
	struct redirects_bpf *bpf;
};
struct redirects {
	uint64_t sent;
	uint64_t dropped[REDIRECT_ERRORS], refused[REDIRECT_ERRORS];	/* by errno */
};

int redirects_open(struct redirects_of *, const struct port *);
void redirects_read(const struct redirects_of *, struct redirects *);
void redirects_close(struct redirects_of *);

#endif
