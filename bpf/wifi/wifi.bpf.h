/* SPDX-License-Identifier: GPL-2.0 */
/* Types of cfg80211 and mac80211, and the maps of scans. */
#ifndef NICPROBE_WIFI_MAPS_BPF_H
#define NICPROBE_WIFI_MAPS_BPF_H

#include "lib/core/meter.bpf.h"
#include "bpf/wifi/scan.bpf.h"
#include "lib/core/kernel.bpf.h"
#include "bpf/wifi/wifi.h"

/*
 * cfg80211 and mac80211 are usually modules: libbpf finds these types in their BTF. We use raw
 * tracepoints, which need no module BTF; a few hundred events per scan need no speed.
 */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct wiphy {
	struct device dev;
};

struct wireless_dev {
	struct net_device *netdev;
};

struct ieee80211_channel {
	__u32 center_freq;	/* MHz… */
	__u16 freq_offset;	/* …plus kHz: 802.11ah */
};

struct cfg80211_scan_info {
	bool aborted;
};

struct cfg80211_scan_request {
	int n_ssids;
	__u32 n_channels;
	struct wireless_dev *wdev;
	struct wiphy *wiphy;
	bool scan_6ghz;
	struct ieee80211_channel *channels[1];
};

struct cfg80211_scan_request_int {	/* passed by tracepoints after 6.12 */
	struct cfg80211_scan_request req;
};

struct cfg80211_bss {
	struct ieee80211_channel *channel;
	__u8 bssid[6];
};

struct cfg80211_internal_bss {
	unsigned long ts;
	struct cfg80211_bss pub;
};

struct ieee80211_hw {
	struct wiphy *wiphy;
};

struct ieee80211_local {
	struct ieee80211_hw hw;
};

#pragma clang attribute pop

const volatile struct wifi_setup setup SEC(".rodata.wifi");

/* Not per CPU, as there are some hundred events per second at most; adds are atomic. */
MAP(HASH, wifi, struct wifi_key, struct wifi, WIFI_KEYS);

/* Scans in progress, by the address of their request; a radio has one at a time. */
MAP(HASH, scans, __u64, struct wifi_scan, 64);

/* The present request of a radio, by the address of its wiphy. */
MAP(HASH, radios, __u64, __u64, 64);

/* The last task that requested a scan of a radio: the kernel itself begins separate parts of it. */
MAP(LRU_HASH, askers, __u64, struct wifi_task, 1024);

struct channel_spot {
	__u64 request;
	__u32 index;		/* in wifi_scan.channel */
};

/*
 * The scan that listens on a channel, by the channel's address. Two cards of a driver with one
 * static array of channels (rtl8xxxu) are not distinguished while both scan.
 */
MAP(HASH, listening, __u64, struct channel_spot, 4096);

struct heard_key {
	__u64 nr;
	__u8 bssid[6];
	__u16 index;
};

/* Networks already heard: one is heard many times in a scan but counts once. */
MAP(LRU_HASH, heard, struct heard_key, __u32, 8192);

/* Events for a live listener, who sets the size. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} events SEC(".maps");

/* A scan is too large for the stack. Its events never come in interrupts: one per CPU is enough. */
MAP(PERCPU_ARRAY, fresh, __u32, struct wifi_scan, 1);

__u64 last_nr;

#define TYPED (!setup.typeless && bpf_core_type_exists(struct cfg80211_scan_request))

#endif
