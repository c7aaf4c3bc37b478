/* SPDX-License-Identifier: GPL-2.0 */
/* Scans by requester and kind, and networks heard per channel. */
#ifndef NICPROBE_BPF_WIFI_H
#define NICPROBE_BPF_WIFI_H

#include "lib/core/abi.h"

#define WIFI_KEYS 512

enum { WIFI_SCANS_DONE, WIFI_SCANS_ABORTED, WIFI_SCANS_REFUSED, NR_WIFI_SCANS };

/* In the order shown: scans, then channels. */
struct wifi_key {
	__be32 khz;		/* 0: scans */
	__u32 kind;		/* enum wifi_kind; for channels 0 */
	char by[16];		/* "": not known, or a channel */
};
KEY_BYTES(struct wifi_key, 24);

struct wifi {
	__u64 scans[NR_WIFI_SCANS];
	HIST(duration, LOGLIN_SLOTS);
	__u64 visits, networks;
};

#endif
