/* SPDX-License-Identifier: GPL-2.0 */
/* Scans of wireless interfaces: by whom, on which channels, networks heard, how they end. */
#define UNTOLD	/* bpf/wifi/radio.c also opens it as it is */
#include "bpf/wifi/wifi.bpf.h"
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>

static __always_inline const struct cfg80211_scan_request *request_of(const void *passed)
{
	if (bpf_core_type_exists(struct cfg80211_scan_request_int))
		passed += bpf_core_field_offset(struct cfg80211_scan_request_int, req);
	return passed;
}

_Static_assert(WIFI_RADIO == 16, "compared as two words");

static __always_inline bool is_radio(const char *name)
{
	const volatile __u64 *other = (const volatile void *)setup.radio;
	const __u64 *one = (void *)name;

	return one[0] == other[0] && one[1] == other[1];
}

/* By its interface; if that is no network device or not known, by its radio. */
static __always_inline bool is_ours(const struct wifi_scan *scan)
{
	if (setup.live)
		return true;
	if (!has_begun())
		return false;
	if (scan->ifindex)
		return scan->ifindex == TOLD(ifindex) && scan->netns == TOLD(netns);
	return is_radio(scan->radio);
}

static __always_inline void tell(struct wifi_scan *scan)
{
	scan->told = bpf_ktime_get_ns();
	if (setup.live && bpf_ringbuf_output(&events, scan, sizeof(*scan), 0))
		lost_add(METER_wifi, 1);
}

static __always_inline struct wifi *row_of_key(const struct wifi_key *key)
{
	static const struct wifi none;
	struct wifi *row = lookup_or_init(&wifi, key, &none);

	if (!row)
		lost_add(METER_wifi, 1);
	return row;
}

static __always_inline void add(__u64 *to, __u64 count)
{
	__sync_fetch_and_add(to, count);
}

/* All kworkers are one task: they work for others. */
static __always_inline void task_take(struct wifi_task *task)
{
	static const char worker[8] = "kworker/";
	bool same = true;

	task->pid = bpf_get_current_pid_tgid() >> 32;
	bpf_get_current_comm(task->name, sizeof(task->name));
	for (int i = 0; i < 8; i++)
		same &= task->name[i] == worker[i];
	if (same)
		__builtin_memset(task->name + 7, 0, sizeof(task->name) - 7);
}

static __always_inline void radio_take(struct wifi_scan *scan, const struct wiphy *wiphy)
{
	bpf_probe_read_kernel_str(scan->radio, sizeof(scan->radio),
				  BPF_CORE_READ(wiphy, dev.kobj.name));
}

static __always_inline void iface_take(struct wifi_scan *scan,
				       const struct cfg80211_scan_request *request)
{
	const struct net_device *dev = BPF_CORE_READ(request, wdev, netdev);

	if (!dev)
		return;
	scan->ifindex = BPF_CORE_READ(dev, ifindex);
	scan->netns = BPF_CORE_READ(dev, nd_net.net, ns.inum);
	BPF_CORE_READ_STR_INTO(&scan->iface, dev, name);
}

struct walk {
	__u64 request;		/* as passed by the tracepoint */
	bool visited;		/* it was completed, not aborted */
};

static __always_inline __u64 channel_at(__u64 passed, __u32 i)
{
	const void *list = (void *)request_of((void *)passed) +
			   bpf_core_field_offset(struct cfg80211_scan_request, channels);
	__u64 channel = 0;

	bpf_probe_read_kernel(&channel, sizeof(channel), list + 8 * i);
	return channel;
}

static long channel_take(__u32 i, struct walk *w)
{
	__u64 at = channel_at(w->request, i);
	const struct ieee80211_channel *channel = (void *)at;
	struct channel_spot spot = { .request = w->request, .index = i };
	struct wifi_scan *scan = row_at(&fresh, 0);

	if (!scan || i >= WIFI_CHANNELS)
		return 1;
	scan->channel[i].khz = BPF_CORE_READ(channel, center_freq) * 1000 +
			       BPF_CORE_READ(channel, freq_offset);
	scan->channel[i].networks = 0;
	bpf_map_update_elem(&listening, &at, &spot, BPF_ANY);
	return 0;
}

static long channel_leave(__u32 i, struct walk *w)
{
	__u64 at = channel_at(w->request, i);
	struct channel_spot *spot = bpf_map_lookup_elem(&listening, &at);

	if (spot && spot->request == w->request)
		bpf_map_delete_elem(&listening, &at);
	return 0;
}

static long channel_count(__u32 i, struct walk *w)
{
	struct wifi_scan *scan = bpf_map_lookup_elem(&scans, &w->request);
	struct wifi_key key = {};
	struct wifi *row;

	if (!scan || i >= WIFI_CHANNELS)
		return 1;
	if (!w->visited && !scan->channel[i].networks)
		return 0;
	key.khz = bpf_htonl(scan->channel[i].khz);
	row = row_of_key(&key);
	if (!row)
		return 0;
	if (w->visited)
		add(&row->visits, 1);
	add(&row->networks, scan->channel[i].networks);
	return 0;
}

static __always_inline __u32 told_channels(const struct wifi_scan *scan)
{
	__u32 n = scan->channels;

	return n < WIFI_CHANNELS ? n : WIFI_CHANNELS;
}

static __always_inline void count(const struct wifi_scan *scan, __u64 now)
{
	struct wifi_key key = { .kind = scan->kind };
	struct wifi *row;
	__u32 what = scan->state - WIFI_DONE;
	__u64 took = now - scan->began;

	__builtin_memcpy(key.by, scan->by.name, sizeof(key.by));
	row = row_of_key(&key);
	if (!row || what >= NR_WIFI_SCANS)
		return;
	add(&row->scans[what], 1);
	if (what != WIFI_SCANS_DONE || !scan->began)
		return;
	add(&row->duration.sum, took);
	add(&row->duration.slot[loglin_slot(took)], 1);
}

/* A followed scan ends. */
static __always_inline void end(struct wifi_scan *scan, enum wifi_state state, __u32 error)
{
	struct walk walk = { .request = scan->request, .visited = state == WIFI_DONE };
	__u64 wiphy = scan->wiphy, request = scan->request;

	scan->state = state;
	scan->error = error;
	if (scan->kind == WIFI_DRIVER && !setup.kind_known)
		scan->kind = WIFI_KIND_UNKNOWN;
	tell(scan);
	if (!setup.live) {
		count(scan, scan->told);
		bpf_loop(told_channels(scan), channel_count, &walk, 0);
	}
	if (TYPED)
		bpf_loop(told_channels(scan), channel_leave, &walk, 0);
	bpf_map_delete_elem(&radios, &wiphy);
	bpf_map_delete_elem(&scans, &request);
}

static __always_inline struct wifi_scan *scan_of_radio(__u64 wiphy)
{
	__u64 *request = bpf_map_lookup_elem(&radios, &wiphy);

	return request ? bpf_map_lookup_elem(&scans, request) : NULL;
}

/* iwlwifi may scan 6 GHz separately, after the other bands: attribute it to the same task. */
static __always_inline void asker_take(struct wifi_scan *scan, const void *passed)
{
	const struct cfg80211_scan_request *request = request_of(passed);
	struct wifi_task *before = bpf_map_lookup_elem(&askers, &scan->wiphy);
	bool later = false;

	if (TYPED && bpf_core_field_exists(request->scan_6ghz))
		later = BPF_CORE_READ(request, scan_6ghz);
	if (later && before) {
		scan->by = *before;
		return;
	}
	task_take(&scan->by);
	bpf_map_update_elem(&askers, &scan->wiphy, &scan->by, BPF_ANY);
}

SEC("raw_tp/rdev_scan")
int BPF_PROG(scan_begin, const struct wiphy *wiphy, const void *passed)
{
	const struct cfg80211_scan_request *request = request_of(passed);
	struct wifi_scan *scan = row_at(&fresh, 0);
	struct walk walk = { .request = (__u64)passed };

	if (!scan)
		return 0;
	__builtin_memset(scan, 0, offsetof(struct wifi_scan, channel));
	radio_take(scan, wiphy);
	if (TYPED)
		iface_take(scan, request);
	if (!is_ours(scan))
		return 0;
	scan->nr = __sync_fetch_and_add(&last_nr, 1) + 1;
	scan->request = (__u64)passed;
	scan->wiphy = (__u64)wiphy;
	scan->jiffies = bpf_jiffies64();
	scan->task = bpf_get_current_pid_tgid();
	asker_take(scan, passed);
	if (TYPED) {
		scan->ssids = BPF_CORE_READ(request, n_ssids);
		scan->channels = BPF_CORE_READ(request, n_channels);
		bpf_loop(told_channels(scan), channel_take, &walk, 0);
	}
	scan->began = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&scans, &scan->request, scan, BPF_ANY) ||
	    bpf_map_update_elem(&radios, &scan->wiphy, &scan->request, BPF_ANY))
		lost_add(METER_wifi, 1);
	tell(scan);
	return 0;
}

/* A driver's answer to any request: to that of a scan, if this task is in its request call. */
SEC("raw_tp/rdev_return_int")
int BPF_PROG(scan_answer, const struct wiphy *wiphy, int answer)
{
	struct wifi_scan *scan = scan_of_radio((__u64)wiphy);

	if (!scan || !scan->task || scan->task != bpf_get_current_pid_tgid())
		return 0;
	scan->task = 0;
	if (answer)
		end(scan, WIFI_REFUSED, -answer);
	return 0;
}

/* A scan that began before we listened: by whom and when is not known. */
static __always_inline void end_unseen(const void *passed, bool aborted)
{
	const struct cfg80211_scan_request *request = request_of(passed);
	struct wifi_scan *scan = row_at(&fresh, 0);

	if (!scan)
		return;
	__builtin_memset(scan, 0, offsetof(struct wifi_scan, channel));
	radio_take(scan, BPF_CORE_READ(request, wiphy));
	iface_take(scan, request);
	if (!is_ours(scan))
		return;
	scan->nr = __sync_fetch_and_add(&last_nr, 1) + 1;
	scan->state = aborted ? WIFI_ABORTED : WIFI_DONE;
	scan->kind = WIFI_KIND_UNKNOWN;
	tell(scan);
	if (!setup.live)
		count(scan, scan->told);
}

SEC("raw_tp/cfg80211_scan_done")
int BPF_PROG(scan_end, const void *passed, const struct cfg80211_scan_info *info)
{
	__u64 request = (__u64)passed;
	struct wifi_scan *scan = bpf_map_lookup_elem(&scans, &request);
	bool aborted = TYPED && BPF_CORE_READ(info, aborted);

	if (scan)
		end(scan, aborted ? WIFI_ABORTED : WIFI_DONE, 0);
	else if (TYPED)
		end_unseen(passed, aborted);
	return 0;
}

SEC("raw_tp/rdev_abort_scan")
int BPF_PROG(scan_abort, const struct wiphy *wiphy)
{
	struct wifi_scan *scan = scan_of_radio((__u64)wiphy);

	if (scan)
		task_take(&scan->aborter);
	return 0;
}

/*
 * cfg80211 returns a network to a caller that reported or looked up one; those heard since the scan
 * began count. `channel` is the one that the network announces.
 */
SEC("raw_tp/cfg80211_return_bss")
int BPF_PROG(scan_heard, const struct cfg80211_bss *bss)
{
	const struct cfg80211_internal_bss *kept = (void *)bss -
		bpf_core_field_offset(struct cfg80211_internal_bss, pub);
	__u64 channel = (__u64)BPF_CORE_READ(bss, channel);
	struct channel_spot *spot = bpf_map_lookup_elem(&listening, &channel);
	struct wifi_scan *scan = spot ? bpf_map_lookup_elem(&scans, &spot->request) : NULL;
	struct heard_key key = {};
	__u32 index, known = 1;

	if (!scan)
		return 0;
	if ((__s64)(BPF_CORE_READ(kept, ts) - scan->jiffies) < 0)
		return 0;
	key.nr = scan->nr;
	index = spot->index;	/* read once: the verifier knows that the map may change */
	barrier_var(index);
	key.index = index;
	BPF_CORE_READ_INTO(&key.bssid, bss, bssid);
	if (index < WIFI_CHANNELS && !bpf_map_update_elem(&heard, &key, &known, BPF_NOEXIST))
		__sync_fetch_and_add(&scan->channel[index].networks, 1);
	return 0;
}

static __always_inline struct wifi_scan *scan_of_local(const struct ieee80211_local *local)
{
	return scan_of_radio((__u64)BPF_CORE_READ(local, hw.wiphy));
}

SEC("raw_tp/drv_hw_scan")
int BPF_PROG(scan_hardware, const struct ieee80211_local *local)
{
	struct wifi_scan *scan = scan_of_local(local);

	if (scan)
		scan->kind = WIFI_HARDWARE;
	return 0;
}

SEC("raw_tp/drv_sw_scan_start")
int BPF_PROG(scan_software, const struct ieee80211_local *local)
{
	struct wifi_scan *scan = scan_of_local(local);

	if (scan)
		scan->kind = WIFI_SOFTWARE;
	return 0;
}

/* A scan of only the current channel is visible only here. */
SEC("raw_tp/drv_config")
int BPF_PROG(scan_here, const struct ieee80211_local *local)
{
	struct wifi_scan *scan = scan_of_local(local);

	if (scan && scan->kind == WIFI_DRIVER)
		scan->kind = WIFI_SOFTWARE;
	return 0;
}

char _license[] SEC("license") = "GPL";
