/* SPDX-License-Identifier: GPL-2.0 */
/* The flows of a receive queue, estimated from the samples of the meter flow. */
#ifndef NICPROBE_FLOWS_H
#define NICPROBE_FLOWS_H

#include "findings/evidence.h"

struct flows {
	uint64_t samples;	/* packets sampled */
	unsigned nr;		/* flows among them */
	unsigned most;		/* number of the largest flows that carry four fifths */
	double share[2];	/* of the two largest, 0 to 1; estimated */
	double least;		/* lower bound of the largest share, at 97.5 % confidence */
	bool tcp;		/* most of the packets are TCP */
	/* share of packets that are IP fragments; estimated, 0 if it may be below a tenth */
	double fragments;
	char name[2][120];	/* "192.0.2.1:5000 > 192.0.2.2:80 tcp" */
};

/* Of one queue; -1: of all. */
void flows_of(const struct evidence *, int queue, struct flows *);
/* It carries one flow, with certainty. */
bool flows_one(const struct flows *);
/* All received packets are one flow: it cannot be spread over queues or CPUs. */
bool flows_alone(const struct evidence *);
/* It carries few large flows: a hash spreads them only by chance. */
bool flows_few(const struct flows *);
/* Too few samples. */
bool flows_unknown(const struct flows *);
/*
 * It may be a single flow, but there are too few samples to be sure. Commands that spread flows may
 * not help then; flows_advise() tells the user how to find out.
 */
bool flows_unsure(const struct flows *);
void flows_advise(const struct evidence *, struct finding *);

#endif
