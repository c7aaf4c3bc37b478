/* SPDX-License-Identifier: GPL-2.0 */
/* What the BPF programs and the C program agree on. Both sides include it. */
#ifndef NICPROBE_ABI_H
#define NICPROBE_ABI_H

#include <linux/types.h>

#include "lib/core/registry.h"

enum meter_id {
#define M(name) METER_##name,
	METERS(M)
#undef M
	NR_METERS
};

_Static_assert(NR_METERS <= 64, "config.on and meta.on have a bit for each");

#define M(name) + 1
enum { NR_PACKET_METERS = 0 PACKET_METERS(M) };	/* they come first */
#undef M
_Static_assert(NR_PACKET_METERS <= 16, "SWITCH_PACKET has a bit for each");

/* Where on its way a packet is counted: receiving first, then sending. */
enum point {
	RX_NIC,		/* what the driver hands up, before GRO: wire packets */
	RX_STACK,	/* what the stack receives, after GRO: buffers */
	TX_STACK,	/* what the stack sends, before GSO: buffers */
	TX_NIC,		/* what the driver is given, after GSO: wire packets */
	NR_POINTS
};

/* More queues than any driver has; an interface with more is refused. Stamps hold a queue. */
#define QUEUE_BITS	12
#define MAX_QUEUES	(1 << QUEUE_BITS)
#define QUEUE_MASK	(MAX_QUEUES - 1)

/* How the receive queue of an skb is known; the driver's table says. */
enum rx_queue {
	RX_QUEUE_RECORDED,	/* queue_mapping is queue + 1, or 0: then by NAPI */
	RX_QUEUE_BY_NAPI,	/* never recorded: rank of the NAPI id among the device's */
	RX_QUEUE_RAW,		/* veth: queue_mapping is the queue itself, the sender's choice */
	NR_RX_QUEUES
};

/* Written once, before load: the verifier removes the code that it turns off. */
struct config {
	__u64 on;		/* 1 << METER_x */
	__u32 points;		/* 1 << enum point of those that tracepoints serve */
	__u32 ifindex;
	__u32 netns;		/* inode of its network namespace: an ifindex alone is not unique */
	__u64 dev, net;		/* addresses of its structs (device.h); 0: not known */
	__u64 from;		/* count once the word `begun` has reached this; 0: at once */
	__u32 rows;		/* map rows per point: one per queue, the last for queue unknown */
	__u32 near;		/* of these, of the queues in use when attached: row_of() */
	__u32 stride[NR_METERS];	/* of a METER_MAP() or METER_TABLE(): rows of each CPU… */
	__u32 end[NR_METERS];		/* …and of all */
	__u32 set_shift;	/* 64 - log2 of the sets that each CPU has in a METER_TABLE() */
	__u64 seed[2];		/* odd, and nobody can guess them: of the hash of its keys */
	__u32 rx_queues;	/* 1: every receive queue is queue 0, whatever an skb says */
	__u32 rx_queue;		/* enum rx_queue */
	__u32 polls;		/* it has a NAPI, or may have: its polls are seen */
	__u32 buffers_at_tc;	/* the program at tc counts buffers: event_conditions[] */
	__u64 adapts;		/* 1 << METER_x: follows as many packets as it may: pace.h */
	__u32 one_in[NR_METERS];	/* other event meters follow one packet in this many */
	__u32 l2;		/* bytes of link header that a received skb has lost: 14, or 0 */
	__u32 xdp_generic;	/* rx-nic is generic XDP: a packet's queue is what its skb says */
	__u32 xdp_cast;		/* what KERN_CTX_CALL becomes; 0: the kernel has no such function */
	__u64 vmemmap_base, page_offset_base;	/* the kernel's variables; 0: none */
	__u32 cast;		/* likewise CAST_CALL */
	__u32 dynptr;		/* likewise: typed tracepoints read data that is not linear */
	__u32 stays;		/* a sent skb still has this device when the driver frees it */
	__u32 drop_sock;	/* kfree_skb also passes the socket, as its fourth argument */
	__u32 kfree_completes;	/* the driver frees sent packets by kfree_skb */
	__u32 frees_in_tasks;	/* by consume_skb it frees them in tasks alone */
	__u32 takes_all;	/* nothing need be seen when the driver's xmit returns */
	__u32 stacks;		/* of drops */
	__u32 flight_shift;	/* txlat: 32 - log2 of the chunks in its table */
	__u32 rx_ring;		/* descriptors of a receive queue; 0: not known */
	__u32 percpu;		/* known: the offsets of these two from `runqueues` of a CPU */
	__u64 softnet_data, ksoftirqd;
	__u64 preempt_count;	/* likewise, on x86; 0: not known */
	__u32 flow_sample;	/* flow looks at one packet in this many; at least 1 */
	char parent[32];	/* the name of its hardware: "0000:00:05.0"; "": it has none */
	__u32 waiting_shift;	/* qdisc: 32 - log2 of the buckets in its table */
	__u32 tx_linear;	/* the driver counts the whole linear part for each segment */
	__u32 tx_least;		/* the driver or card counts shorter packets as this long */
	__u32 preempts;		/* a task may be preempted within a program: release_preempts() */
	__u32 scratch;		/* slots of a SCRATCH_MAP(); a power of two */
	__u32 slot;		/* among interfaces that share programs: host.h; 0: it does not */
	__u32 tick_us;		/* of jiffies */
	__u64 entered;		/* 1 << SHARED_x: the kernel runs this program itself */
	/* NAPIs by id: from `napi_first` on, `napi_rx` of them receive; the others only send */
	__u32 napis, napi_first, napi_rx;	/* napis: all; 0: none that only sends is known */
};

_Static_assert(sizeof(struct config) < 1 << 16, "OPERAND_OF() and SWITCH_WORD have 16 bits");

/* What the programs of an interface share: lib/attach/begin.h. */
struct begun {
	__u64 times;
	__u64 far;		/* not 0: there were packets of queues behind config.near */
};

/* The value of a NAPI in napi_queue: its queue, with NAPI_TX if it only completes sent packets. */
#define NAPI_TX		(1u << 31)
#define NAPI_OTHER	(~NAPI_TX)	/* it is not one of this device's */

/* Slots for the tasks of a CPU, by the last bits of their pids, where tasks need slots. */
#define SCRATCH_TASKS	64
_Static_assert(!(SCRATCH_TASKS & (SCRATCH_TASKS - 1)), "scratch_nr() takes the last bits");
#define SCRATCH_SUFFIX	"_scratch"	/* of the names of these maps: bpf/common/scratch.bpf.h */

/*
 * What a program is told has a place among its instructions: the loader writes it over these
 * constants (lib/attach/tell.h). Reading it from `config` would take as long as all else that is
 * done for events of other devices, and a third of what is done for a packet.
 *
 * The address of the device; DEV_OF_PACKET stays if packets may change devices.
 */
#define DEV_UNKNOWN	0x6e696370726f6265	/* "nicprobe" */
#define DEV_OF_PACKET	0x6e696370726f6267
/* The rows of meter `id`: those of a METER_MAP(). */
#define ROWS_OF(id)	(0x726f777300000000 + (id))
/* A word of `config`: its offset and size. */
#define WORD_OF(offset, size)	(0x776f726400000000 + ((size) << 16) + (offset))
/* The same as the operand of one instruction; it is below 2^31. */
#define OPERAND_OF(offset, size)	(0x77600000 + ((size) << 16) + (offset))
#define OPERAND_KIND	0xfff00000	/* bits that say so */
/*
 * A switch: `r0 = …; if r0 == 0 goto off`, where `…` is one of these. The loader makes both nothing
 * if it is on, which the verifier removes; or else sets r0 to 0, and the verifier removes what it
 * jumps over. The last 16 bits say what must be on.
 */
#define SWITCH_METER	0x6d6f0000	/* a meter, by id */
#define SWITCH_PACKET	0x6d700000	/* any of these packet meters: 1 << METER_x */
#define SWITCH_POINT	0x6d740000	/* a point that tracepoints serve */
#define SWITCH_WORD	0x6d770000	/* a word of `config` of 4 bytes, by offset: it is not 0 */
#define SWITCH_KIND	0xffff0000

/*
 * Calls of functions of the kernel, which the loader puts in place of calls of these helpers, which
 * are none: libbpf would read all types of the kernel to find their numbers.
 */
#define KERN_CTX_CALL	0x6e697063	/* bpf_cast_to_kern_ctx(), Linux 6.2 */
#define CAST_CALL	0x6e697064	/* bpf_rdonly_cast(), 6.2 */
#define DYNPTR_CALL	0x6e697065	/* bpf_dynptr_from_skb(), at tracepoints 6.11 */

/*
 * The value of every map is one row of __u64 that only ever grow. So the sums
 * over CPUs, the rates and the percentiles of all meters each take one loop.
 * A histogram is the sum of the values, followed by the slots.
 */
#define HIST(name, nr_slots) struct { __u64 sum; __u64 slot[nr_slots]; } name

/* Maps and memcmp() compare a key byte by byte: it must not be padded. */
#define KEY_BYTES(T, bytes) _Static_assert(sizeof(T) == (bytes), #T " must not be padded")

/*
 * An entry of a METER_TABLE(): the rows of a set, with their keys (lib/core/table.bpf.h). `turn`
 * grows when the row begins to be another key's, and once more when that is done: while it is odd
 * the row is nobody's. Rows whose first word is 0 are free. Behind its sets a CPU has entries of
 * marks, each those of some sets.
 */
#define TABLE_WAYS	4	/* rows in a set */
#define TABLE_MARKED	8	/* sets that share an entry of marks */
#define TABLE_SET(name) union name##_set {				\
	struct name##_way {						\
		struct name##_key key;					\
		__u32 turn;						\
		struct name row;					\
	} way[TABLE_WAYS];						\
	__u32 mark[TABLE_MARKED * TABLE_WAYS];				\
}

/*
 * A log-linear histogram of nanoseconds: LOGLIN_STEPS steps in each power of
 * two, so a value is known to 12.5%. The first slot is everything below
 * 2^LOGLIN_MIN (64 ns), the last everything from 2^LOGLIN_MAX (17 s) on.
 */
#define LOGLIN_MIN	6
#define LOGLIN_MAX	34
#define LOGLIN_STEPS	8
#define LOGLIN_SLOTS	((LOGLIN_MAX - LOGLIN_MIN) * LOGLIN_STEPS + 2)

/*
 * A histogram of counts: 0 to 8 have slots of their own, then each power of
 * two has COUNTS_STEPS. A slot includes its upper bound; the last slot is
 * everything above 2^18.
 */
#define COUNTS_STEPS	4
#define COUNTS_MAX	18
#define COUNTS_SLOTS	(6 + COUNTS_STEPS * (COUNTS_MAX - 2))
#define COUNTS_OCTAVE(from) (from) / 4 * 5, (from) / 4 * 6, (from) / 4 * 7, (from) * 2
#define COUNTS_BOUNDS	0, 1, 2, 3, 4, COUNTS_OCTAVE(4), COUNTS_OCTAVE(8), COUNTS_OCTAVE(16),	\
	COUNTS_OCTAVE(32), COUNTS_OCTAVE(64), COUNTS_OCTAVE(128), COUNTS_OCTAVE(256),		\
	COUNTS_OCTAVE(512), COUNTS_OCTAVE(1024), COUNTS_OCTAVE(2048), COUNTS_OCTAVE(4096),	\
	COUNTS_OCTAVE(8192), COUNTS_OCTAVE(16384), COUNTS_OCTAVE(32768), COUNTS_OCTAVE(65536),	\
	COUNTS_OCTAVE(131072)

/* A histogram of buffers by the wire packets in them; the last slot: more (BIG TCP). */
#define SEGS_BOUNDS(B)	B(0, 1) B(1, 2) B(2, 3) B(3, 4) B(4, 8) B(5, 16) B(6, 32) B(7, 64) B(8, 128)
#define SEGS_SLOTS	10

#endif
