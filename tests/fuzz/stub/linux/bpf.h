/* SPDX-License-Identifier: GPL-2.0 */
/* Stub of <linux/bpf.h> for BPF programs built as plain C: addresses have full width. */
#ifndef __LINUX_BPF_H__
#define __LINUX_BPF_H__

#include <linux/types.h>

#define BPF_MAP_TYPE_HASH		1
#define BPF_MAP_TYPE_ARRAY		2
#define BPF_MAP_TYPE_PERCPU_HASH	5
#define BPF_MAP_TYPE_PERCPU_ARRAY	6
#define BPF_F_MMAPABLE	1024
#define BPF_MAP_TYPE_LRU_PERCPU_HASH	10

#define BPF_ANY		0
#define BPF_NOEXIST	1

#define XDP_PASS	2

struct xdp_md {
	__u64 data, data_end;
	__u32 rx_queue_index;
};

struct __sk_buff {
	__u64 data, data_end;
	__u32 len, queue_mapping, napi_id, vlan_present, gso_size, gso_segs;
	__u32 protocol;
};

struct bpf_dynptr {
	const void *skb;
};

#endif
