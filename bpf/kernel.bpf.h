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

struct Qdisc_ops {
	char id[16];
};

struct Qdisc {
	const struct Qdisc_ops *ops;
};

struct dql {				/* byte queue limits of a TX queue */
	unsigned int num_queued, num_completed;
	unsigned int limit;
	unsigned long stall_cnt;	/* 6.9 */
};

struct netdev_queue {
	struct Qdisc *qdisc;
	unsigned long state;
	struct dql dql;			/* CONFIG_BQL */
};

struct net_device {
	int ifindex;
	struct netdev_queue *_tx;
	possible_net_t nd_net;
	struct list_head napi_list;
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

#pragma clang attribute pop

/* What a queueing discipline says when it drops; the numbers move, hence bpf_core_enum_value(). */
enum skb_drop_reason {
	SKB_DROP_REASON_QDISC_DROP = 1,
	SKB_DROP_REASON_QDISC_OVERLIMIT,	/* this and the next ones: after 6.12 */
	SKB_DROP_REASON_QDISC_CONGESTED,
	SKB_DROP_REASON_CAKE_FLOOD,
	SKB_DROP_REASON_FQ_BAND_LIMIT,
	SKB_DROP_REASON_FQ_HORIZON_LIMIT,
	SKB_DROP_REASON_FQ_FLOW_LIMIT,
};

/*
 * p->field, both ways: tp_btf knows the type and loads at once, raw_tp has
 * plain addresses and must ask a helper. `btf` is a constant: one is cut out.
 */
#define READ(btf, p, field) \
	((btf) ? (p)->field : BPF_CORE_READ(p, field))

#endif
