/* SPDX-License-Identifier: GPL-2.0 */
/* What of the address of an skb a program may compute with. */
#ifndef NICPROBE_HALF_BPF_H
#define NICPROBE_HALF_BPF_H

#include <linux/types.h>

/*
 * The verifier forbids arithmetic on a pointer to a kernel object, but lets its lower half be
 * copied (a 32-bit move); that is enough for a hash. skbs lie 64 bytes apart at least: the bits
 * below say nothing.
 */
static __always_inline __u32 lower_half(const void *p)
{
	__u32 half;

	asm("%0 = %1" : "=w"(half) : "w"((__u32)(unsigned long)p));
	return half;
}

#endif
