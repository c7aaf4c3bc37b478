/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets that ask, as queries and echoes, and those that answer: what the host's meters remember
 * of each that asks, and the key of their rows.
 */
#ifndef NICPROBE_ROUNDTRIP_H
#define NICPROBE_ROUNDTRIP_H

#include "bpf/host/remote.h"

/* Of a row: who is asked, and who asks. */
struct asker_key {
	struct remote remote;	/* all zeros: any, of those for which the map has no room */
	char comm[COMM_SIZE];	/* "": not known, as of packets that are forwarded */
};
KEY_BYTES(struct asker_key, 32);

/* So many are known; those asked longest ago are forgotten. */
#define ROUNDTRIPS 8192

struct roundtrip {		/* its two ends, and its numbers */
	struct remote server, client;
	__be16 port, id;
};
KEY_BYTES(struct roundtrip, 36);

/* A packet as the devices of a stack see it: a bridge and its port, a VLAN and what is below. */
struct sighting {
	__u64 seen;		/* CLOCK_MONOTONIC ns: the last one */
	__u64 device;		/* address of the first that saw it */
};

struct roundtrip_state {
	__u64 since;		/* CLOCK_MONOTONIC ns: of the first packet */
	struct sighting last;	/* of the question, or of the last answer */
	__u32 answered;
	char comm[COMM_SIZE];
};

/* A question without an answer counts as unanswered for so long, ns. */
#define UNANSWERED_FROM	2000000000ull
#define UNANSWERED_TO	10000000000ull

#ifndef __bpf__
struct table;

/* The labels of an asker_key, and their text. */
extern const char *const asker_labels[];
void asker_text(const void *key, unsigned nr, char *text, size_t size);

/* Counts in this word of each row the questions of the map that wait, which no event tells. */
int roundtrips_waiting(const char *pins, const char *map, struct table *, unsigned word);

/* The key of a question's row. True: where there is none, it counts in that of the others. */
typedef bool roundtrip_key_of(const struct roundtrip *, const struct roundtrip_state *, void *key);

/* The same where a state is the beginning of what is known of a question, and for other keys. */
struct roundtrip_kind {
	size_t state_size, key_size;
	roundtrip_key_of *key_of;
};
int roundtrips_waiting_by(const char *pins, const char *map, struct table *, unsigned word,
			  const struct roundtrip_kind *);
#endif

#endif
