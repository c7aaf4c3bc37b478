/* SPDX-License-Identifier: GPL-2.0 */
/* The lower half of an address, which a program may compute with. */
#ifndef NICPROBE_HALF_BPF_H
#define NICPROBE_HALF_BPF_H

#include <linux/types.h>

/*
 * The verifier forbids arithmetic on a pointer to a kernel object but allows a 32-bit move of its
 * lower half, which is enough for a hash. skbs are at least 64 bytes apart: ignore the low 6 bits.
 */
static __always_inline __u32 lower_half(const void *p)
{
	__u32 half;

	asm("%0 = %1" : "=w"(half) : "w"((__u32)(unsigned long)p));
	return half;
}

#endif
