/* SPDX-License-Identifier: GPL-2.0 */
/* Programs that only call a function with the arguments of their event. */
#ifndef NICPROBE_PROGRAM_BPF_H
#define NICPROBE_PROGRAM_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* The program `name` of `section` returns `call`; the rest are the parameters of the event. */
#define ON(name, section, call, ...)	\
	SEC(section)			\
	int BPF_PROG(name, __VA_ARGS__)	\
	{				\
		return call;		\
	}
#define SKB const struct sk_buff *skb
#define DEV const struct net_device *dev

#endif
