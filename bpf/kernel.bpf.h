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

struct net_device {
	int ifindex;
	possible_net_t nd_net;
	struct list_head napi_list;
};

struct napi_struct {
	struct list_head dev_list;
	unsigned int napi_id;
};

struct sk_buff {
	struct sk_buff *next, *prev;
	struct net_device *dev;
	unsigned int len, data_len;
	__u16 queue_mapping;
	__be16 protocol;
	__u8 cloned : 1;
	__u8 encapsulation : 1;
	int skb_iif;
	unsigned int napi_id;
	__u32 vlan_all;			/* since 6.1: 0 where no tag is held beside the data… */
	__u16 transport_header, mac_header, network_header;
	__u16 inner_transport_header;
	unsigned char *head, *data;
	unsigned int end;
	char cb[48];
};

struct sk_buff_head {
	struct sk_buff *next, *prev;
};

struct sock {
	struct sk_buff_head sk_receive_queue;
	__u16 sk_protocol;
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

#pragma clang attribute pop

/*
 * p->field, both ways: tp_btf knows the type and loads at once, raw_tp has
 * plain addresses and must ask a helper. `btf` is a constant: one is cut out.
 */
#define READ(btf, p, field) \
	((btf) ? (p)->field : BPF_CORE_READ(p, field))

#endif
