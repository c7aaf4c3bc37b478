/* SPDX-License-Identifier: GPL-2.0 */
/* A radio's scan, as BPF programs follow and report it; and their settings. */
#ifndef NICPROBE_WIFI_BPF_H
#define NICPROBE_WIFI_BPF_H

#include <linux/types.h>

#define WIFI_CHANNELS	128	/* reported per scan; 2.4, 5 and 6 GHz have 101 */

enum wifi_kind {
	WIFI_DRIVER,		/* by the driver and its card, without mac80211 */
	WIFI_SOFTWARE,		/* by mac80211, which changes channels */
	WIFI_HARDWARE,		/* by the card, on request of mac80211 */
	WIFI_KIND_UNKNOWN,
	NR_WIFI_KINDS
};

#define WIFI_RADIO 16		/* longer names of radios are truncated */

enum wifi_state { WIFI_BEGAN, WIFI_DONE, WIFI_ABORTED, WIFI_REFUSED, NR_WIFI_STATES };

struct wifi_task {
	char name[16];		/* "": not known */
	__u32 pid;		/* of the process, not of the thread */
};

struct wifi_channel {
	__u32 khz;
	__u32 networks;		/* different BSSIDs heard there during the scan */
};

struct wifi_scan {
	__u64 nr;		/* unique among scans of one program */
	__u64 request, wiphy;	/* addresses by which other events identify it */
	__u64 began, told;	/* CLOCK_MONOTONIC; `began` 0: before we listened */
	__u64 jiffies;		/* at the beginning */
	__u64 task;		/* that is in the request call; 0: the call has returned */
	__u32 state;		/* enum wifi_state */
	__u32 kind;		/* enum wifi_kind; not known yet at the beginning */
	__u32 error;		/* WIFI_REFUSED: an errno */
	__u32 ifindex, netns;	/* 0: the interface is no network device, or not known */
	__u32 ssids;		/* requested; 0: a passive scan */
	__u32 channels;		/* requested; 0: not known */
	char iface[16], radio[WIFI_RADIO];
	struct wifi_task by, aborter;
	struct wifi_channel channel[WIFI_CHANNELS];
};

/* The value of .rodata.wifi, set before load. */
struct wifi_setup {
	char radio[WIFI_RADIO];	/* "phy0"; identifies scans without a network device */
	__u32 live;		/* report scans of every interface as they happen, count nothing */
	__u32 typeless;		/* as if the modules had no BTF */
	__u32 kind_known;	/* mac80211 reports it, or is not loaded: the driver scans */
};

#endif
