/* SPDX-License-Identifier: GPL-2.0 */
/* A scan of a radio, as the BPF programs follow it and as it is told; and what they must know. */
#ifndef NICPROBE_WIFI_BPF_H
#define NICPROBE_WIFI_BPF_H

#include <linux/types.h>

#define WIFI_CHANNELS	128	/* that are told of one scan; 2.4, 5 and 6 GHz have 101 */

enum wifi_kind {
	WIFI_DRIVER,		/* the driver and its card do it all, mac80211 has no part in it */
	WIFI_SOFTWARE,		/* mac80211 goes from channel to channel */
	WIFI_HARDWARE,		/* mac80211 has the card do it */
	WIFI_KIND_UNKNOWN,
	NR_WIFI_KINDS
};

enum wifi_state { WIFI_BEGAN, WIFI_DONE, WIFI_ABORTED, WIFI_REFUSED };

struct wifi_task {
	char name[16];		/* "": not known */
	__u32 pid;		/* of the process, not of a thread */
};

struct wifi_channel {
	__u32 khz;
	__u32 networks;		/* different BSSIDs that were heard there during the scan */
};

struct wifi_scan {
	__u64 nr;		/* its own, of all that a program follows */
	__u64 request, wiphy;	/* addresses: who is meant by other events */
	__u64 began, told;	/* CLOCK_MONOTONIC; `began` 0: before anybody listened */
	__u64 jiffies;		/* at the beginning */
	__u64 task;		/* inside its request; 0: that has come back */
	__u32 state;		/* enum wifi_state */
	__u32 kind;		/* enum wifi_kind; of one that has just begun: not known yet */
	__u32 error;		/* WIFI_REFUSED: an errno */
	__u32 ifindex, netns;	/* 0: of an interface that is no network device, or not told */
	__u32 ssids;		/* that are asked for; 0: it only listens */
	__u32 channels;		/* that were asked for; 0: not told */
	char iface[16], radio[16];
	struct wifi_task by, aborter;
	struct wifi_channel channel[WIFI_CHANNELS];
};

/* The value of .rodata.wifi, set before load. */
struct wifi_setup {
	char radio[16];		/* "phy0"; what belongs to no network device is told by it */
	__u32 live;		/* tell what happens, of every interface, and count nothing */
	__u32 typeless;		/* as if no module described its types: for tests */
	__u32 kind_known;	/* mac80211 tells, or is not there: the driver does it */
};

#endif
