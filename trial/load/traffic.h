/* SPDX-License-Identifier: GPL-2.0 */
/* Packet counts at both ends of a trial, by queue and CPU. */
#ifndef NICPROBE_TRAFFIC_H
#define NICPROBE_TRAFFIC_H

#include <stdint.h>

#include "trial/load/live.h"
#include "trial/scenario/port.h"

struct error;

#define TRAFFIC_QUEUES	128	/* the last entry is for all higher ones, also for CPUs */
#define TRAFFIC_CPUS	256

/* The entry of queue or CPU `i`. */
static inline unsigned traffic_at(unsigned i, unsigned entries)
{
	return i < entries ? i : entries - 1;
}

struct traffic {
	uint64_t packets, bytes;
	uint64_t others;	/* packets of other sizes than the generator's */
	uint64_t queue[TRAFFIC_QUEUES], cpu[TRAFFIC_CPUS];	/* packets */
};

/* Our XDP program on a port; its link ends with the process. */
struct sink {
	struct sink_bpf *bpf;
	int link;
	unsigned rows;
	int generic;		/* generic XDP: errno of the driver; 0: native */
};

/*
 * `action` as in struct sink_config; counts only frames of this size, with or without VLAN tag;
 * size 0: all frames. 0, or -errno with an error message.
 */
int sink_open(struct sink *, const struct port *, __u32 action, unsigned size, bool tagged,
	      struct error *);
void sink_read(const struct sink *, struct traffic *);
void sink_close(struct sink *);

struct redirects {		/* frames redirected to a port */
	uint64_t sent;
	uint64_t dropped[REDIRECT_ERRORS], refused[REDIRECT_ERRORS];	/* by errno */
};

struct redirects_bpf;		/* the programs that count them */
/* 0, or -errno with an error message. */
int redirects_open(struct redirects_bpf **, const struct port *, struct error *);
void redirects_read(const struct redirects_bpf *, struct redirects *);
void redirects_close(struct redirects_bpf *);

#endif
