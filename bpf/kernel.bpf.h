/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel structures we read, only the fields we read; CO-RE finds them where they are. */
#ifndef NICPROBE_KERNEL_BPF_H
#define NICPROBE_KERNEL_BPF_H

#include <bpf/bpf_core_read.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct list_head {
	struct list_head *next;
};

struct bpf_prog;

struct net_device {
	int ifindex;
	possible_net_t nd_net;
	struct list_head napi_list;
	__u64 features;			/* on; feature.bpf.h has the bits */
	__u64 hw_features;		/* that can be switched… */
	__u64 wanted_features;		/* …and those that were asked to be on */
	__u64 hw_enc_features, vlan_features;	/* on inside tunnels, and beside VLAN tags */
	unsigned int gso_max_size;
	unsigned int gso_ipv4_max_size;	/* Linux 6.3 */
	__u16 gso_max_segs;
	struct bpf_prog *xdp_prog;	/* generic XDP */
};

struct napi_struct {
	struct list_head dev_list;
	unsigned int napi_id;
};

struct sk_buff {
	struct net_device *dev;
	unsigned int len, data_len;
	__u16 queue_mapping;
	__be16 protocol;
	__u8 encapsulation : 1;
	__u8 ip_summed : 2;
	unsigned int napi_id;
	__u32 vlan_all;			/* since 6.1: 0 where no tag is held beside the data… */
	__u16 transport_header, mac_header, network_header;
	__u16 inner_transport_header;
	unsigned char *head, *data;
	unsigned int end;
	char cb[48];
};

struct sk_buff___6_1 {
	__u8 vlan_present : 1;		/* …but up to 6.1 this bit says so; gone in 6.2 */
};

struct skb_shared_info {
	unsigned short gso_size, gso_segs;
	unsigned int gso_type;
	struct frag_any { long any; } frags[1];	/* head.bpf.h knows what they are */
};

struct page {
	unsigned long flags;
};

struct napi_gro_cb {
	void *frag0;
};

enum gro_result { GRO_MERGED, GRO_MERGED_FREE, GRO_HELD, GRO_NORMAL, GRO_CONSUMED };

#pragma clang attribute pop

/*
 * p->field, both ways: tp_btf knows the type and loads at once, raw_tp has
 * plain addresses and must ask a helper. `btf` is a constant: one is cut out.
 */
#define READ(btf, p, field) \
	((btf) ? (p)->field : BPF_CORE_READ(p, field))

#endif
