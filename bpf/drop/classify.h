/* SPDX-License-Identifier: GPL-2.0 */
/* Classifies a drop by reason and location; drop.h has what other meters and findings use. */
#ifndef NICPROBE_CLASSIFY_H
#define NICPROBE_CLASSIFY_H

#include <stdbool.h>

#include "bpf/drop/drop.h"

/* Harmless: for another host, for nobody, received twice, or unread in a closed socket. */
bool drop_is_benign(const struct drop_key *);
/*
 * Not a drop. 6.1 frees the parts of a buffer merged by GRO as if they were dropped:
 * skb_release_data() calls kfree_skb_list(); from 6.3 on it passes SKB_CONSUMED. tbf frees a buffer
 * that it has segmented as a drop if every segment was dropped: 6.18, and Debian's 6.1 and 6.12.
 */
bool drop_is_false(const struct drop_key *);
/*
 * Received, although its frame looks like one being sent: a veth runs XDP on the frames of its
 * peer.
 */
bool drop_is_received(const struct drop_key *);
/*
 * Dropped where the kernel looks for receivers of a multicast or broadcast and found none. A
 * multicast or broadcast dropped elsewhere was dropped for a reason that the kernel does not name.
 */
bool drop_is_for_nobody(const struct drop_key *);

#endif
