/* SPDX-License-Identifier: GPL-2.0 */
/* Packets that are sent to user space with their events. */
#ifndef NICPROBE_PROBES_PACKETS_H
#define NICPROBE_PROBES_PACKETS_H

#include "probes/probe_event.h"

#define SNAPLEN_LEAST	16
#define SNAPLEN_MOST	16384

struct captured {
	struct probe_event event;
	__u32 len;		/* of the packet, from the header that the file begins with */
	__u32 caplen;		/* the bytes that are here: query.snaplen at most */
	__be16 vlan_proto;	/* of a tag that is kept beside the packet: event.eth_istagged */
	__u16 vlan_tci;
	__u32 unused;
	__u8 bytes[];
};

#endif
