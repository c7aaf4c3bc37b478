/* SPDX-License-Identifier: GPL-2.0 */
/* Stub of <bpf/bpf_tracing.h>: a tracing program is a plain function of its arguments. */
#define BPF_PROG(name, args...) name(args)
