/* SPDX-License-Identifier: GPL-2.0 */
/* Stands in for <bpf/bpf_tracing.h>: a tracing program is a function of its arguments. */
#define BPF_PROG(name, args...) name(args)
