/* SPDX-License-Identifier: GPL-2.0 */
/* A network card of ours that qemu shows to its guest: what a model is, and what it can call. */
#ifndef NICPROBE_MODEL_H
#define NICPROBE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct model;			/* one card in one guest */

/*
 * What there is of each model: "-device NAME,netdev=ID,mac=…". A PCI network card with 32-bit
 * registers in BAR 0 and MSI-X. All is called by qemu under its big lock: never two at once.
 */
struct model_card {
	const char *name;
	uint16_t vendor, device;
	uint8_t revision;
	uint32_t registers;		/* bytes of BAR 0, a power of two */
	uint32_t memory;		/* bytes of BAR 2, plain RAM, a power of two; 0: none */
	unsigned vectors;		/* of MSI-X; their table is in BAR 3 */
	size_t state;			/* bytes that a card has for itself, zero at first */
	void (*reset)(struct model *);	/* at power-on, and when the guest resets the bus */
	/* Registers: `at` is a multiple of four below `registers`. */
	uint32_t (*read)(struct model *, uint32_t at);
	void (*write)(struct model *, uint32_t at, uint32_t value);
	/*
	 * A frame from the wire, without FCS, at least 60 bytes. Its size: taken, or dropped and
	 * counted; 0: there is no room now, model_room() will tell.
	 */
	ssize_t (*receive)(struct model *, const uint8_t *frame, size_t size);
	/*
	 * TX. Writes the completion that model_finish() was called for, with the same words; and
	 * tells the driver that there is one. in_order: those of a queue come as they were sent.
	 */
	void (*complete)(struct model *, unsigned queue, const uint64_t what[2]);
	void (*completed)(struct model *, unsigned queue);
	bool in_order;
};

void model_register(const struct model_card *);	/* from a constructor */

void *model_state(struct model *);
const uint8_t *model_mac(const struct model *);

/*
 * The guest's memory, by the address that the driver gave to the card. false: there is none, or
 * the card is not allowed to be the bus's master.
 */
bool model_load(struct model *, uint64_t from, void *to, size_t size);
bool model_store(struct model *, uint64_t to, const void *from, size_t size);
/* MSI-X; one that the guest has masked is raised once it is unmasked. */
void model_interrupt(struct model *, unsigned vector);
uint8_t *model_memory(struct model *);	/* BAR 2 */
/* To the wire. */
void model_send(struct model *, const uint8_t *frame, size_t size);
void model_room(struct model *);	/* receive() would take frames again */
int64_t model_now(void);		/* nanoseconds of the guest's time */
/*
 * Calls `then` once, so many nanoseconds of the guest's time later, also after a reset: moderation,
 * delayed completions.
 */
void model_later(struct model *, int64_t ns, void (*then)(struct model *));

/* What a test told the card, and what it did: the words that switches.h says how to reach. */
enum model_switch {
	SWITCH_HOLD,		/* µs that a completion is late; HOLD_ON: until this changes */
	SWITCH_LOSE,		/* so many of the next completions never come */
	SWITCH_REVERSE,		/* so many come together, the last first; 0 if they are in order */
	SWITCH_STARVE,		/* so many of the next frames find no buffer, whatever there is */
	/* What passes in a second, on the wire, until the rest is refused; 0: all. ena alone */
	SWITCH_PACKETS, SWITCH_BYTES_OUT, SWITCH_BYTES_IN,
	DID_HOLD, DID_LOSE, DID_REVERSE, DID_STARVE,	/* so many since power-on; read only */
	SWITCHES,
};
uint32_t model_switch(struct model *, enum model_switch);
/*
 * A packet was sent, and is to be completed: now, and then this is true, and card->complete() was
 * called; or later, or never, and the card does nothing more.
 */
bool model_finish(struct model *, unsigned queue, uint64_t a, uint64_t b);
void model_forget(struct model *, int queue);	/* it is gone, and what was held with it; -1: all */
bool model_starved(struct model *);		/* has the next frame to find no buffer? */

#endif
