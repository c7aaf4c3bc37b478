/* SPDX-License-Identifier: GPL-2.0 */
/* A virtual function of Intel X550, as Linux drives it: its registers, and what is behind them. */
#ifndef NICPROBE_IXGBEVF_H
#define NICPROBE_IXGBEVF_H

#include "model.h"

enum {
	QUEUES = 8,			/* that have registers */
	ALLOWED = 4,			/* that the physical function lends to each virtual one */
	VECTORS = 3,
	MAC_SIZE = 6, MORE_MACS = 16,
	LONGEST = 1 << 16,		/* frame, before it is split */
};

enum {
	VFCTRL = 0x0, VFCTRL_RESET = 1 << 26,
	VFSTATUS = 0x8,
	VFLINKS = 0x10, VFLINKS_UP_10G = 0x70000000,
	VFFRTIMER = 0x48,
	VTEICR = 0x100, VTEICS = 0x104, VTEIMS = 0x108, VTEIMC = 0x10c, VTEIAC = 0x110,
	VTEIAM = 0x114,
	VTIVAR = 0x120, VTIVAR_MISC = 0x140, VTIVAR_VALID = 0x80,
	VFMBMEM = 0x200, VFMAILBOX = 0x2fc,
	VFPSRTYPE = 0x300, VFPSRTYPE_QUEUES = 29,	/* a shift: log2 of how many */
	VTEITR = 0x820,
	RX_QUEUES = 0x1000, TX_QUEUES = 0x2000, QUEUE_STRIDE = 0x40,
	VFGPRC = 0x101c, VFGORC_LOW = 0x1020, VFGORC_HIGH = 0x1024, VFMPRC = 0x1034,
	VFGPTC = 0x201c, VFGOTC_LOW = 0x2020, VFGOTC_HIGH = 0x2024,
	VFMRQC = 0x3000, VFRSSRK = 0x3100, VFRETA = 0x3200,
	REGISTERS = 0x4000,
};

/* Of a queue; each is RX_QUEUES or TX_QUEUES, so many strides, and one of these. */
enum {
	BASE_LOW = 0x0, BASE_HIGH = 0x4, LENGTH = 0x8, HEAD = 0x10, SRRCTL = 0x14, TAIL = 0x18,
	CONTROL = 0x28,
};

enum { QUEUE_ENABLE = 1 << 25, RX_STRIPS_TAG = 1 << 30, RX_LIMITED = 1 << 15, RX_LIMIT = 0x3fff };

/* What its physical function lets through to it. */
enum mode { MODE_NONE, MODE_MULTICAST, MODE_ALL_MULTICAST, MODE_ALL };

struct filter {
	uint8_t mac[MAC_SIZE], more[MORE_MACS][MAC_SIZE];
	unsigned nr_more;
	uint32_t multicast[4096 / 32], vlans[4096 / 32];
	uint32_t longest;		/* with FCS */
	enum mode mode;
	bool met;			/* it was reset since the guest began: it may ask */
};

struct context {			/* as its descriptor is */
	uint32_t lengths, unused, type, mss;
};

struct sending {			/* a frame whose descriptors have not all come yet */
	uint8_t frame[LONGEST];
	size_t size;
	uint32_t command, options;	/* of its first descriptor */
	bool too_long;
};

struct ixgbevf {
	uint32_t registers[REGISTERS / 4];
	uint32_t mailbox;		/* VFMAILBOX */
	uint32_t causes, enabled;	/* VTEICR, VTEIMS */
	uint32_t unsaid;		/* of the causes: no message went out since it came */
	int64_t quiet_until[VECTORS];
	bool waits[VECTORS];		/* for that, with something to say */
	struct {
		uint64_t rx_packets, rx_bytes, rx_multicast, tx_packets, tx_bytes;
	} counts;			/* bytes with FCS */
	struct filter filter;
	struct context contexts[QUEUES][2];
	struct sending sending[QUEUES];
};

static inline uint32_t *queue_register(struct ixgbevf *v, uint32_t of, unsigned queue, uint32_t at)
{
	return &v->registers[(of + queue * QUEUE_STRIDE + at) / 4];
}

/* A ring's descriptor, 16 bytes. */
static inline uint64_t descriptor_at(struct ixgbevf *v, uint32_t of, unsigned queue, uint32_t nr)
{
	return *queue_register(v, of, queue, BASE_LOW) + nr * 16ULL +
	       ((uint64_t)*queue_register(v, of, queue, BASE_HIGH) << 32);
}

static inline uint32_t ring_size(struct ixgbevf *v, uint32_t of, unsigned queue)
{
	return *queue_register(v, of, queue, LENGTH) / 16;
}

/* Interrupts: `causes` is a bit for each vector. */
void ixgbevf_cause(struct model *, uint32_t causes);
void ixgbevf_enable(struct model *, uint32_t causes);
void ixgbevf_queue_news(struct model *, unsigned queue, bool tx);
void ixgbevf_mailbox_news(struct model *);

/* The physical function: the far end of the mailbox, and what it filters. */
void ixgbevf_mailbox_write(struct model *, uint32_t value);
uint32_t ixgbevf_mailbox_read(struct model *);
void ixgbevf_mailbox_reset(struct model *);
bool ixgbevf_passes(const struct ixgbevf *, const uint8_t *frame, size_t size);

ssize_t ixgbevf_receive(struct model *, const uint8_t *frame, size_t size);
void ixgbevf_transmit(struct model *, unsigned queue);
void ixgbevf_complete(struct model *, unsigned queue, const uint64_t what[2]);
void ixgbevf_completed(struct model *, unsigned queue);

#endif
