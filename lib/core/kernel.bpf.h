/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel structures we read, only the fields we read; CO-RE finds them where they are. */
#ifndef NICPROBE_KERNEL_BPF_H
#define NICPROBE_KERNEL_BPF_H

#include <bpf/bpf_core_read.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct net {
	struct ns_common ns;
	__u64 net_cookie;
	struct hlist_head *dev_index_head;	/* its interfaces, hashed by ifindex */
};

typedef struct {
	struct net *net;
} possible_net_t;

struct xdp_buff {
	__u32 flags;
};

struct list_head {
	struct list_head *next, *prev;
};

struct kobject {
	const char *name;
};

struct class {
	const char *name;
};

struct device {
	struct kobject kobj;
	struct device *parent;
	const struct class *class;
};

struct bpf_prog;

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
	struct net_device *dev;
	struct Qdisc *qdisc;
	unsigned long state;
	struct dql dql;			/* CONFIG_BQL */
};

struct net_device {
	struct device dev;
	unsigned int num_rx_queues, real_num_rx_queues;
	char name[16];
	const unsigned char *dev_addr;
	int ifindex;
	unsigned int flags;
	unsigned short hard_header_len;
	unsigned char lower_level;	/* 1: no device below it */
	void *rx_handler;		/* of a bridge or bond that it is a port of */
	struct hlist_node index_hlist;
	struct netdev_queue *_tx;
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

struct rq {
	int cpu;
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
};

struct nsproxy {
	struct net *net_ns;
};

struct kuid {			/* kuid_t: only its number is read */
	unsigned int val;
};

struct cred {
	struct kuid uid;
};

struct thread_info {
	__u32 preempt_count;		/* not on x86 */
};

struct task_struct {
	struct thread_info thread_info;
	struct sched_entity se;
	int pid, tgid;
	char comm[16];
	const struct cred *cred;
	struct nsproxy *nsproxy;
	struct files_struct *files;
};

struct napi_struct {
	struct list_head poll_list;
	unsigned long state;
	int weight;
	struct net_device *dev;
	struct task_struct *thread;
	struct list_head dev_list;
	unsigned int napi_id;
};

struct irqaction {
	const char *name;
	unsigned int flags;
};

struct softnet_data {
	struct list_head poll_list;
	unsigned int time_squeeze;
};

struct dst_entry {
	struct net_device *dev;
};

typedef struct {
	long long counter;
} atomic64_t;

struct in6_addr {
	unsigned char bytes[16];	/* a union in the kernel: only its address is taken */
};

struct sock_common {
	possible_net_t skc_net;
	int skc_bound_dev_if;
	__be32 skc_daddr, skc_rcv_saddr;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	__u16 skc_family;
	volatile unsigned char skc_state;
	atomic64_t skc_cookie;
};

struct sk_buff;

struct sk_buff_head {
	struct sk_buff *next, *prev;
};

struct sock {
	struct sock_common __sk_common;
	struct sk_buff_head sk_receive_queue;
	__u16 sk_protocol, sk_type;
	int sk_err;
};

struct inet_sock {
	struct sock sk;
	__be16 inet_sport;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	__u8 icsk_ca_state : 5;
	__u8 icsk_retransmits;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 rcv_nxt, snd_nxt, snd_una, snd_wnd, rcv_wnd;
	__u32 snd_cwnd, snd_ssthresh, mss_cache, srtt_us, mdev_us, total_retrans;
};

struct request_sock {
	struct sock_common __req_common;
};

struct nf_hook_state {
	__u8 hook, pf;
	struct net_device *in, *out;
	struct net *net;
};

struct bpf_nf_ctx {
	const struct nf_hook_state *state;
	struct sk_buff *skb;
};

struct sk_buff {
	struct sk_buff *next, *prev;
	struct net_device *dev;
	struct sock *sk;
	unsigned long _skb_refdst;
	int skb_iif;
	unsigned int len, data_len;
	__u16 queue_mapping;
	__be16 protocol;
	__u8 cloned : 1;
	__u8 pkt_type : 3;
	__u8 encapsulation : 1;
	__u8 ip_summed : 2;
	__u8 tc_skip_classify : 1;	/* with CONFIG_NET_CLS_ACT */
	unsigned int napi_id;
	__u32 vlan_all;			/* since 6.1: 0 where no tag is held beside the data… */
	__u16 transport_header, mac_header, network_header;
	__u16 inner_transport_header;
	__u16 vlan_tci;
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

/* Types for addresses of headers, and of any 32 or 64 bits. */
struct ethhdr___type {
	__u8 h_dest[6], h_source[6];
	__be16 h_proto;
};

struct iphdr___any {
	__u8 tos;
};

struct in_addr___any {
	__be32 s_addr;
};

struct timespec64___any {
	__s64 tv_sec;
};

struct page {
	unsigned long flags;
};

struct bpf_prog_aux {
	__u32 id;
};

struct bpf_prog {
	struct bpf_prog_aux *aux;
};

struct xdp_cpumap_stats {
	unsigned int redirect, pass, drop;
};

struct page_pool_params_fast {	/* page_pool_params up to 6.6 */
	struct device *dev;
	struct napi_struct *napi;	/* since 6.4; NULL: its driver does not say */
};

struct page_pool_params_slow {		/* since 6.7 */
	struct net_device *netdev;	/* since 6.8; the same */
};

struct page_pool {
	struct page_pool_params_fast p;
	struct page_pool_params_slow slow;
	__u32 pages_state_hold_cnt;
	struct { int counter; } pages_state_release_cnt;
};

struct xdp_rxq_info {
	struct net_device *dev;
	__u32 queue_index;
};

struct xdp_mem_allocator {
	void *allocator;
};

struct veth_rq {
	struct page_pool *page_pool;
};

struct veth_priv {
	struct veth_rq *rq;
};

struct napi_gro_cb {
	void *frag0;
};

#define XDP_HAS_FRAGS	1	/* xdp_buff.flags: XDP_FLAGS_HAS_FRAGS; since 5.18 */

enum gro_result { GRO_MERGED, GRO_MERGED_FREE, GRO_HELD, GRO_NORMAL, GRO_CONSUMED };

#pragma clang attribute pop

/* Their values differ between kernels: ask by bpf_core_enum_value(). */
enum skb_drop_reason {
	SKB_CONSUMED,			/* since 6.3 */
	SKB_DROP_REASON_NOT_SPECIFIED, SKB_DROP_REASON_NO_SOCKET,
	SKB_DROP_REASON_TC_EGRESS, SKB_DROP_REASON_FULL_RING, SKB_DROP_REASON_XDP,
	SKB_DROP_REASON_NEIGH_FAILED, SKB_DROP_REASON_NEIGH_QUEUEFULL,
	SKB_DROP_REASON_NEIGH_CREATEFAIL, SKB_DROP_REASON_NEIGH_DEAD,
	SKB_DROP_REASON_PACKET_SOCK_ERROR,	/* after 6.1 */
	/* what a queueing discipline says; all but the first: after 6.12 */
	SKB_DROP_REASON_QDISC_DROP,
	SKB_DROP_REASON_QDISC_OVERLIMIT,
	SKB_DROP_REASON_QDISC_CONGESTED,
	SKB_DROP_REASON_CAKE_FLOOD,
	SKB_DROP_REASON_FQ_BAND_LIMIT, SKB_DROP_REASON_FQ_HORIZON_LIMIT,
	SKB_DROP_REASON_FQ_FLOW_LIMIT,
};

/* NET_XMIT_MASK: below it the driver has taken the packet (dev_xmit_complete()); BUSY is above. */
#define XMIT_TAKEN	0x0f

/*
 * Since 6.2 a program can give a plain address a type, at no cost: a load from it then reads 0
 * where there is no memory. This is the kernel's own list of such functions.
 */
#ifdef TOLD_CALLS	/* an object that lib/attach/tell.c prepares */
static void *(*const bpf_rdonly_cast)(const void *, __u32) = (void *)CAST_CALL;
#else
extern void *bpf_rdonly_cast(const void *, __u32) __ksym __weak;
#endif
enum special_kfunc_type { KF_bpf_rdonly_cast };
#define CAN_CAST	bpf_core_enum_value_exists(enum special_kfunc_type, KF_bpf_rdonly_cast)
#define CAST(p)		((typeof(p))bpf_rdonly_cast(p, bpf_core_type_id_kernel(typeof(*(p)))))

/*
 * An argument of a typed tracepoint, to read pointers from. Since 6.2 the kernel trusts such an
 * argument, and for every pointer that a program reads from one it searches all its types for four
 * names (btf_nested_type_is_trusted()), which takes it 1 ms. It does not from one that was cast.
 */
#define ARGUMENT(p)	(CAN_CAST ? CAST(p) : (p))

/*
 * The pointer p->field of such an argument, where each instruction counts. Unlike those of
 * ARGUMENT() the two ways do not meet before the load, so the verifier removes the branch.
 */
#define ARGUMENT_READ(p, field) ({				\
	void *argument_field;					\
	if (CAN_CAST) {						\
		argument_field = CAST(p)->field;		\
	} else {						\
		argument_field = (p)->field;			\
		barrier_var(argument_field);			\
	}							\
	argument_field;						\
})

/*
 * p->field of a plain address, whose type the verifier does not know: loaded directly if it can be
 * given a type, else by a helper.
 */
#define PLAIN(p, field)	(CAN_CAST ? CAST(p)->field : BPF_CORE_READ(p, field))

#endif
