/* SPDX-License-Identifier: GPL-2.0 */
/* Scans, by who asked and how they were done; and channels, by what was heard on them. */
#ifndef NICPROBE_BPF_WIFI_H
#define NICPROBE_BPF_WIFI_H

#include "lib/core/abi.h"

#define WIFI_KEYS 512

enum { WIFI_SCANS_DONE, WIFI_SCANS_ABORTED, WIFI_SCANS_REFUSED, NR_WIFI_SCANS };

/* In the order they are shown: scans, then channels. */
struct wifi_key {
	__be32 khz;		/* 0: scans */
	__u32 kind;		/* enum wifi_kind; of a channel: 0 */
	char by[16];		/* "": not known; of a channel, too */
};

struct wifi {
	__u64 scans[NR_WIFI_SCANS];
	HIST(duration, LOGLIN_SLOTS);
	__u64 visits, networks;
};

#endif
