/* SPDX-License-Identifier: GPL-2.0 */
/* Who sent packets that arrived marked. */
#ifndef NICPROBE_ECN_SOURCE_H
#define NICPROBE_ECN_SOURCE_H

#include "lib/core/abi.h"

#define ECN_SOURCES 4096	/* addresses at once; who was not seen for long makes room */

struct ecn_source_key {
	__u32 address[4];	/* as on the wire; IPv4 in the first word */
	__u32 ipv6;
};

struct ecn_source {
	__u64 packets;
};

#endif
