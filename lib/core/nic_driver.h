/* SPDX-License-Identifier: GPL-2.0 */
/* What we know of a NIC driver. Tables only; a driver that is not listed works, too. */
#ifndef NICPROBE_DRIVER_H
#define NICPROBE_DRIVER_H

#include <stdbool.h>

#include "lib/core/abi.h"

#define MAX_PATTERNS 4	/* of names of interrupts; those that are NULL end them */

/* A version of Linux, as release_version() reads it. */
#define KERNEL(major, minor) ((major) << 8 | (minor))

/* What a function of a driver does for packets. */
enum driver_does {
	DOES_INTERRUPT,		/* the handler of an interrupt */
	DOES_POLL,		/* NAPI's poll */
	DOES_TRANSMIT,		/* takes packets from the stack */
	DOES_COMPLETE,		/* frees what was sent */
	DOES_RECEIVE,		/* hands packets to the stack */
	DOES_REFILL,		/* gives the card new buffers */
	DOES_XDP,		/* takes or runs XDP programs */
	DOES_TIMEOUT,		/* is called when nothing completes */
	DOES_SCAN,		/* looks for wireless networks */
	DOES_OTHER,
	NR_DOES
};
extern const char *const does_text[];

/*
 * A function or tracepoint. Only what is in modules as they are shipped: what compilers inline is
 * not here. `since` and `until` are kernels it was seen in while it was missing in others; between
 * two such nobody looked. 0: it is in all.
 */
struct driver_name {
	const char *name;
	enum driver_does does;
	unsigned since, until;
	const char *module;	/* that has it; NULL: that of the driver */
};

/*
 * A statistic of `ethtool -S`. %r and %t are the number of a receive or transmit queue; without,
 * it is of all. `as` is its name in stat_names, which says what it means.
 */
struct driver_stat {
	const char *name, *as;
	bool level;		/* how much there is now, not how often something was */
	unsigned since, until;
};

/* What is called alike whatever the driver calls it: as netdev-genl where that has a name. */
struct stat_name {
	const char *name, *help;
};
extern const struct stat_name stat_names[];	/* ends with an empty one */

/* What a driver counts as sent. L is skb->len at net_dev_start_xmit, S the segments. */
enum tx_bytes {
	TX_NOT_KNOWN,
	TX_BUFFERS,		/* L, and one packet, whatever becomes of it */
	TX_WIRE,		/* L + (S - 1) * the headers' length; S packets */
	TX_LINEAR,		/* L + (S - 1) * skb_headlen, which may be more; S packets */
	TX_CARD,		/* what the card counted on the wire */
	NR_TX_BYTES
};

struct driver_bytes {
	enum tx_bytes tx;
	unsigned tx_least;	/* shorter packets count as so long */
	int rx_more;		/* bytes a packet, above skb->len before GRO: 14 is Ethernet */
	bool rx_wire;		/* a packet that the card merged counts as those it was */
	/* some packets count with so many bytes more, or less, and nobody says which */
	int rx_some, tx_some;
	bool link;		/* it is in `ip -s link` alone: what a queue has is no packets */
	const char *when;	/* it counts sent packets: at "completion", "xmit" or "reading" */
	const char *but;	/* what else there is to know */
};

struct driver {
	const char *name;		/* as `ethtool -i` says it; "generic": any other */
	const char *help;		/* what it is: "Amazon Elastic Network Adapter" */
	enum rx_queue rx_queue;		/* how an skb tells the queue it came from */
	/*
	 * Packets become its own while the stack receives them for the device below, past all
	 * events but tc: why none tells; NULL: they do.
	 */
	const char *no_receive;
	/* what attaching native XDP disturbs; NULL: nothing, so it is chosen */
	const char *xdp;
	const char *xdp_takes;		/* how long that takes, where it is long; NULL: it is not */
	bool no_xdp;			/* it has no native XDP */
	bool gro_by_ethtool;		/* it hands packets past GRO unless that was switched on */
	const char *spread;		/* how receive queues get their share; NULL: ethtool -X */
	bool keeps_dev;			/* skb->dev is still its own when it frees a sent packet */
	/* its rx_dropped is what the card had no buffer for, and nothing else of its own */
	bool drops_are_the_card;
	bool pool;			/* has page pools, although no hardware */
	bool no_pool;			/* has none, although hardware */
	bool kfree_completes;		/* it frees what it has sent as if it were dropped */
	const char *late;		/* who completes late where no card does; NULL: the card */
	const char *no_completion;	/* why its packets never complete; NULL: they do */
	/*
	 * What it calls its interrupts: %i is the name the interface had then, * is anything, and
	 * a number is that of a queue of both directions (%q), or of one (%r, %t); %a: of all.
	 * %b: the first half of so many serves transmit queues, the second receive queues.
	 */
	const char *irqs[MAX_PATTERNS];
	unsigned irqs_since[MAX_PATTERNS], irqs_until[MAX_PATTERNS];	/* as of driver_name */
	const char *irqs_how;		/* what the names do not tell */
	/* packets a receive queue holds, where ethtool does not tell; 0: nothing fixed */
	unsigned rx_ring;
	/*
	 * What `ip -s link` counts as rx_dropped beside what the stack drops: packets that were
	 * longer than its MTU, and no others.
	 */
	bool drops_long;
	const char *no_napi;		/* why no poll is ever its own; NULL: it may be */

	/* What `nicprobe drivers` tells and checks. Lists end with an empty one; NULL: none. */
	const struct driver_name *functions, *tracepoints;
	const struct driver_stat *stats;
	const char *stats_how;		/* what is special about reading them */
	struct driver_bytes bytes;
	unsigned xdp_since;		/* kernel that brought native XDP */
	const char *xdp_needs;		/* without which attaching fails */
	/* what XDP live frames do that it sends, before this kernel; NULL: no harm is known */
	const char *live_harm;
	unsigned live_harmless;
	/*
	 * With more queues in use than there are CPUs, and none to spare for each of them, it takes
	 * a queue for redirected frames that is not there, and the kernel dies.
	 */
	bool xmit_by_cpu;
	bool xdp_halves;		/* it needs as many queues as are in use once more */
	const char *completes;		/* where it frees what was sent: "ena_io_poll(), NAPI" */
};

#define D(name) extern const struct driver driver_##name;
DRIVERS(D)
#undef D
extern const struct driver driver_generic;
extern const struct driver *const drivers[];	/* ends with NULL; driver_generic is not in it */

const struct driver *driver_find(const char *name);	/* never NULL: driver_generic */
/* Devices that a driver serves, in all namespaces; 0: none, or what it serves is no hardware. */
unsigned driver_devices(const char *name);
/* "6.12.117+deb12-amd64" to KERNEL(6, 12); 0: it is no version. */
unsigned release_version(const char *release);
/* Should a kernel of this version (0: not known) have what is there since and until? */
bool version_has(unsigned version, unsigned since, unsigned until);
const struct stat_name *stat_find(const char *name);	/* NULL: no such name */

#endif
