/* SPDX-License-Identifier: GPL-2.0 */
/* What we know of a NIC driver. Tables only; a driver that is not listed works, too. */
#ifndef NICPROBE_DRIVER_H
#define NICPROBE_DRIVER_H

#include <stdbool.h>

#include "lib/core/abi.h"

#define MAX_PATTERNS 4	/* of interrupt names; NULL ends the list */

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
 * A function or tracepoint. Only symbols of shipped modules are listed, so none that compilers
 * inline. `since` and `until` are the first and the last kernel in which it was found, if it was
 * missing in others; between the kernels examined, nobody looked. 0: it is in all.
 */
struct driver_name {
	const char *name;
	enum driver_does does;
	unsigned since, until;
	const char *module;	/* that has it; NULL: that of the driver */
};

/*
 * A statistic of `ethtool -S`. %r and %t stand for the number of a receive or transmit queue; a
 * name without them is for all queues. `as` is its name in stat_names, which explains it.
 */
struct driver_stat {
	const char *name, *as;
	bool level;		/* an amount at present, not a number of events */
	unsigned since, until;
};

/* The common name of a statistic, whatever a driver calls it: netdev-genl's name, if it has one. */
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
	unsigned tx_least;	/* shorter packets count as this long */
	int rx_more;		/* bytes per packet beyond skb->len before GRO: 14 is Ethernet */
	bool rx_wire;		/* a packet that the card merged counts as its original packets */
	/* some packets count as this many bytes more (below 0: less); which ones is not known */
	int rx_some, tx_some;
	bool link;		/* only `ip -s link` counts so: its queues do not count packets */
	const char *when;	/* when it counts sent packets: "completion", "xmit" or "reading" */
	const char *but;	/* what else there is to know */
};

struct driver {
	const char *name;		/* as `ethtool -i` says it; "generic": any other */
	const char *help;		/* what it is: "Amazon Elastic Network Adapter" */
	enum rx_queue rx_queue;		/* how an skb tells the queue it came from */
	/*
	 * Why no event but tc sees the packets that it receives: they become its own while the
	 * stack receives them for the device below. NULL: events see them.
	 */
	const char *no_receive;
	/* what attaching native XDP disturbs; NULL: nothing, so it is chosen */
	const char *xdp;
	const char *xdp_takes;		/* how long that takes; NULL: not long */
	bool no_xdp;			/* it has no native XDP */
	bool gro_by_ethtool;		/* it hands packets past GRO unless that was switched on */
	const char *spread;		/* how receive queues get their share; NULL: ethtool -X */
	bool keeps_dev;			/* skb->dev is still its own when it frees a sent packet */
	/* its rx_dropped is packets that the card had no buffer for, and no others of its own */
	bool drops_are_the_card;
	bool pool;			/* has page pools, although no hardware */
	bool no_pool;			/* has none, although hardware */
	bool kfree_completes;		/* it frees what it has sent as if it were dropped */
	bool frees_in_tasks;		/* by consume_skb() it frees sent packets in tasks alone */
	/*
	 * Kernels before this one: its xmit takes or drops each packet (never NETDEV_TX_BUSY),
	 * drops by kfree_skb(), stops no queue and has no byte limits. 0: not known of any.
	 */
	unsigned takes_all_before;
	/* from this kernel on, with a qdisc, it may return packets or stop a queue; 0: never */
	unsigned gives_back_since;
	const char *late;		/* who completes late where no card does; NULL: the card */
	const char *no_completion;	/* why its packets never complete; NULL: they do */
	/*
	 * What it calls its interrupts. %i: the name of the interface at that time; *: anything;
	 * %q: the number of a queue in both directions; %r, %t: of a receive, a transmit queue;
	 * %a: a number, for all queues. %b: of so many numbers, the first half serves transmit
	 * queues, the second receive queues.
	 */
	const char *irqs[MAX_PATTERNS];
	unsigned irqs_since[MAX_PATTERNS], irqs_until[MAX_PATTERNS];	/* as of driver_name */
	const char *irqs_how;		/* what the names do not tell */
	/* packets that a receive queue holds, if ethtool does not tell; 0: no fixed number */
	unsigned rx_ring;
	/*
	 * What `ip -s link` counts as rx_dropped beside what the stack drops: packets that were
	 * longer than its MTU, and no others.
	 */
	bool drops_long;
	const char *no_napi;		/* why no poll ever belongs to it; NULL: one may */
	bool napi_by_gro;		/* it polls only while GRO is on, or has native XDP */
	bool napi_by_opener;		/* it polls only if the program behind it asked for that */

	/* What `nicprobe drivers` tells and checks. Lists end with an empty one; NULL: none. */
	const struct driver_name *functions, *tracepoints;
	const struct driver_stat *stats;
	const char *stats_how;		/* what is special about reading them */
	struct driver_bytes bytes;
	unsigned xdp_since;		/* kernel that brought native XDP */
	const char *xdp_needs;		/* what attaching needs, or it fails */
	/* what the XDP live frames that it sends do before that kernel; NULL: no known harm */
	const char *live_harm;
	unsigned live_harmless;
	/*
	 * If more queues are in use than there are CPUs, and there is no spare queue for each CPU,
	 * it sends redirected frames by a queue that does not exist, and the kernel crashes.
	 */
	bool xmit_by_cpu;
	bool xdp_halves;		/* XDP needs as many queues again as are in use */
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
/* Should a kernel of this version (0: not known) have what has these `since` and `until`? */
bool version_has(unsigned version, unsigned since, unsigned until);
const struct stat_name *stat_find(const char *name);	/* NULL: no such name */

#endif
