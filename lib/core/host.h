/* SPDX-License-Identifier: GPL-2.0 */
/* What attached interfaces share: an event runs one program, which passes it on to the others. */
#ifndef NICPROBE_HOST_H
#define NICPROBE_HOST_H

#include <linux/types.h>

/*
 * The programs that interfaces share; second copies come after first ones. Of all interfaces only
 * one has its program attached to the event: the first that wanted it. That one passes the events
 * of other devices on, by a tail call into their programs. So a packet of a device that is not
 * attached meets one program for each event, and not one for each attached interface.
 */
#define SHARED_PROGRAMS(P)							\
	P(consume_skb) P(consume_skb_again) P(kfree_skb) P(kfree_skb_again)	\
	P(skb_attempt_defer_free) P(net_dev_xmit) P(net_dev_start_xmit)		\
	P(net_dev_queue) P(napi_poll) P(napi_poll_begins) P(softirq_entry)	\
	P(softirq_raise) P(napi_gro_receive_exit) P(napi_gro_frags_exit)	\
	P(netif_receive_skb) P(napi_gro_receive_entry) P(napi_gro_frags_entry)	\
	P(netif_receive_skb_entry) P(netif_receive_skb_list_entry) P(netif_rx_entry)	\
	P(qdisc_in) P(xdp_except) P(xdp_redir) P(xdp_redir_err) P(xdp_handed_on)	\
	P(xdp_back) P(xdp_enqueued) P(xdp_processed) P(pool_gone) P(pool_release)	\
	P(pool_hold) P(pool_connect) P(irq_end) P(irq_begin)

enum shared_program {
#define P(name) SHARED_##name,
	SHARED_PROGRAMS(P)
#undef P
	NR_SHARED
};

_Static_assert(NR_SHARED <= 64, "config.entered has a bit for each");

/* The map of the next programs of a program is called this and its name. */
#define NEXT_PREFIX	"to_"

/*
 * Each interface that shares has a slot. Slot 0 is nobody's. HOST_SLOT is that of programs without
 * an interface: they pass events on where the interface whose program did so was detached.
 */
#define SLOTS		256
#define HOST_SLOT	(SLOTS - 1)

/* A set of slots: a bit for each. */
#define SLOT_WORDS	(SLOTS / 64)
struct slots {
	__u64 word[SLOT_WORDS];
};

#define SLOT_WORD(slot)	((slot) % SLOTS / 64)
#define SLOT_BIT(slot)	(1ull << (slot) % 64)

/* device -> slot, without collisions: `mul` is chosen so that no two devices meet. */
#define DEVICE_BITS	14
struct devices {
	__u32 mul;
	__u8 slot[1 << DEVICE_BITS];
	__u64 dev[1 << DEVICE_BITS];	/* addresses of struct net_device; 0: none */
};

static inline __attribute__((always_inline)) __u32 device_place(__u32 mul, __u32 lower_half)
{
	return (lower_half >> 5) * mul >> (32 - DEVICE_BITS);	/* NETDEV_ALIGN is 32 */
}

/*
 * A change of an attached program: for a time the old one and the new one both run. Before and
 * after it the one that is entered passes events on.
 */
enum handing {
	NOT_HANDING,
	NEW_COMES,	/* the new one is being attached, and passes nothing on */
	OLD_PASSES,	/* both run for every event: the old one counts those it passes on */
	NEW_PASSES,	/* the new one passes events on, except those that the old one counted */
};

/* The slot whose program is attached, 0 if none is; and enum handing. In one word, read at once. */
#define PASSER(entered, handing)	((__u32)(entered) | (__u32)(handing) << 16)
#define PASSER_ENTERED(passer)	((passer) & 0xffff)
#define PASSER_HANDING(passer)	((passer) >> 16)

/* Slots by the last bits of an ifindex: whose a packet may be that has an ifindex and no device. */
#define INDEX_PLACES	64

/* Slots by the last bits of the id of a cpumap: whose programs may have redirected to it. */
#define CPUMAP_PLACES	64

/* Who has a slot. */
struct tenant {
	char pins[48];			/* below PINS_ROOT; "": nobody */
	__u64 dev;
	__u32 ifindex;
	__u32 unused;
	__u64 missed[NR_SHARED];	/* what the attached program had missed before */
};

#define HOST_MAGIC	0x6e69686f	/* "niho" */
/* For changes of what the programs of two interfaces agree on that no size in here tells. */
#define HOST_VERSION	2

/* The value of HOST_MAP. Programs write `gro_armed` and `cpumap`; user space under pins_lock(). */
struct host {
	__u32 magic;
	__u32 current;			/* the index of the devices in use, and 2 for each change */
	__u32 gro_armed;		/* CPUs whose polls are counted: bpf/gro/gro.bpf.h */
	__u32 last;			/* the slot taken last: the next one is another */
	__u32 words;			/* of a struct slots: no slot beyond was ever taken */
	__u32 unused;
	__u64 calls;			/* 1 << program of those that pass events on at all… */
	struct slots called[NR_SHARED];	/* …and the slots they pass them on to */
	struct slots index[INDEX_PLACES];	/* slots whose ifindex ends with these bits */
	struct slots cpumap[CPUMAP_PLACES];	/* that redirected to it: bpf/xdp/xdp.bpf.h */
	__u32 passer[NR_SHARED];	/* PASSER(): whose program passes events on */
	struct devices devices[2];
	/* only for user space: */
	__u64 missed[NR_SHARED];	/* events that former attached programs missed */
	__u32 program[NR_SHARED];	/* the id of the one that is attached */
	struct tenant tenant[SLOTS];
};

#define HOST_MAP	".data.host"
#define HANDED_MAP	"host_handed"	/* per CPU and program: counted by the old one */
#define CUT_MAP		"host_cut"	/* per CPU and program: not passed on to the last ones */
#define HOST_CPU_MAP	"host_cpu_scratch"
#define POOLS_MAP	"host_pools"	/* struct asked: bpf/common/asked.bpf.h */
#define IRQS_MAP	"host_irqs"	/* the same, by interrupt number */

#endif
