/* SPDX-License-Identifier: GPL-2.0 */
/* What a drop was, by its reason and place; drop.h has what other meters and findings ask. */
#ifndef NICPROBE_CLASSIFY_H
#define NICPROBE_CLASSIFY_H

#include <stdbool.h>

#include "bpf/drop/drop.h"

/* Does no harm: for another host, for nobody, received twice, or unread in a closed socket. */
bool drop_is_benign(const struct drop_key *);
/*
 * Is not a drop. 6.1 frees the parts of a buffer that GRO made as if they were dropped:
 * skb_release_data() calls kfree_skb_list(); from 6.3 on it passes SKB_CONSUMED. tbf frees a buffer
 * that it has segmented as a drop when every segment was dropped: 6.18, and Debian's 6.1 and 6.12.
 */
bool drop_is_false(const struct drop_key *);
/*
 * Was being received, though its frame looks as if it were being sent: a veth runs XDP on the
 * frames of its peer.
 */
bool drop_is_received(const struct drop_key *);
/*
 * Was dropped where the kernel looks for a receiver of a multicast or broadcast and found none.
 * Elsewhere it was dropped for a reason that the kernel does not name, whomever it was for.
 */
bool drop_is_for_nobody(const struct drop_key *);

#endif
