/* SPDX-License-Identifier: GPL-2.0 */
/* Which flows a receive queue carries, and how sure that is: from the samples of the meter flow. */
#ifndef NICPROBE_FLOWS_H
#define NICPROBE_FLOWS_H

#include "findings/evidence.h"

struct flows {
	uint64_t samples;	/* packets that were looked at */
	unsigned nr;		/* flows among them */
	unsigned most;		/* so many of the largest carry four fifths of the packets */
	double share[2];	/* of the two largest, 0 to 1; estimated */
	double least;		/* the largest's share is at least that, with 97.5 % certainty */
	bool tcp;		/* most of the packets are TCP */
	/* the share of packets that are IP fragments; estimated, 0 where it may be below a tenth */
	double fragments;
	char name[2][120];	/* "192.0.2.1:5000 > 192.0.2.2:80 tcp" */
};

/* Of a queue; -1: of all. */
void flows_of(const struct evidence *, int queue, struct flows *);
/* It is one flow, beyond doubt. */
bool flows_one(const struct flows *);
/* All that is received is: there is nothing to spread over queues or CPUs. */
bool flows_alone(const struct evidence *);
/* They are few, each too large to be lost among others: nothing but luck spreads them. */
bool flows_few(const struct flows *);
/* Too few samples to tell. */
bool flows_unknown(const struct flows *);
/*
 * It may be one flow, which nothing spreads: it looks so, and there are too few samples to be sure.
 * Then what spreads flows is no remedy; the finding says how to find out.
 */
bool flows_unsure(const struct flows *);
void flows_advise(const struct evidence *, struct finding *);

#endif
