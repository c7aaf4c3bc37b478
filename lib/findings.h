/* SPDX-License-Identifier: GPL-2.0 */
/* Sentences: what is wrong, and what to try. */
#ifndef NICPROBE_FINDINGS_H
#define NICPROBE_FINDINGS_H

#include <stdbool.h>

#define MAX_FINDINGS 32

/* What several meters see, each in its way: it is said once. */
enum about {
	ABOUT_ITSELF,		/* nobody else sees it */
	ABOUT_ONE_CPU,		/* one CPU has the work of all queues */
	ABOUT_QDISC_WAIT,	/* the qdisc keeps packets */
	ABOUT_QDISC_DROPS,
	ABOUT_TX_FULL,		/* there is no room in the transmit ring */
	ABOUT_TX_SLOW,		/* what is in the ring stays there */
	ABOUT_ALLOWANCE,	/* the instance sends or receives more than it may */
	ABOUT_RX_NO_ROOM,	/* the receive ring had no buffer for a packet */
	ABOUT_RX_NO_MEMORY,	/* and there was no memory for one */
	ABOUT_READER,		/* a program reads its socket too slowly */
	NR_ABOUT
};

struct finding {
	const char *meter;
	char what[256];		/* "queue 0 carries 91% of the packets" */
	char try[256];		/* "ethtool -X eth0 equal 4" */
};

struct findings {
	unsigned nr;
	struct finding list[MAX_FINDINGS];
	const char *about[NR_ABOUT];	/* the meter that speaks of it */
};

/* May this meter speak of it? The first that asks may, and so must ask only when it will. */
bool finding_about(struct findings *, enum about, const char *meter);

/* "32.8 us", "1.12 s": as text(). */
const char *finding_time(double seconds);

/* Past MAX_FINDINGS they are dropped: nobody reads the 33rd. */
__attribute__((format(printf, 4, 5)))
void finding(struct findings *, const char *meter, const char *try, const char *what, ...);

#endif
