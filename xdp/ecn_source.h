/* SPDX-License-Identifier: GPL-2.0 */
/* Senders of packets that arrived marked CE. */
#ifndef NICPROBE_ECN_SOURCE_H
#define NICPROBE_ECN_SOURCE_H

#include "lib/core/abi.h"

struct ecn_source_key {
	__u32 address[4];	/* as on the wire; IPv4 in the first word */
	__u32 ipv6;
};
KEY_BYTES(struct ecn_source_key, 20);

struct ecn_source {
	__u64 packets;
};

TABLE_SET(ecn_source);

#endif
