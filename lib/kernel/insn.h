/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs of a few instructions, written as such: an object would be read, and libbpf would find
 * out first what the kernel can do, which takes longer than all the rest.
 */
#ifndef NICPROBE_INSN_H
#define NICPROBE_INSN_H

#include <linux/bpf.h>

#define INSN(c, ...)	{ .code = (c), __VA_ARGS__ }
#define SET(reg, value)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (reg), .imm = (value))
#define CALL(function)	INSN(BPF_JMP | BPF_CALL, .imm = (function))
#define EXIT		INSN(BPF_JMP | BPF_EXIT)
#define EXIT_WITH(value) SET(BPF_REG_0, value), EXIT
/* The address of a part of the only value of a map. */
#define SET_VALUE(reg, map, at)							\
	INSN(BPF_LD | BPF_DW | BPF_IMM, .dst_reg = (reg),			\
	     .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = (map)),			\
	INSN(0, .imm = (at))

#endif
