/* SPDX-License-Identifier: GPL-2.0 */
/* What is asked, and what the kernel answers. */
#ifndef NICPROBE_SYMBOL_BPF_H
#define NICPROBE_SYMBOL_BPF_H

#include <linux/types.h>

struct symbol_query {
	__u64 address;
	/* "tcp_v4_rcv+0x8d3/0x1100", with " [module]"; or "0xffff…". To look it up: "tcp_v4_rcv" */
	char name[192];
};

#endif
