/* SPDX-License-Identifier: GPL-2.0 */
/* The stable probes: a program for each place of the kernel where their events are seen. */
#include <linux/ptrace.h>

#include "probes/stacks.bpf.h"

extern void *bpf_cast_to_kern_ctx(void *) __ksym __weak;

char _license[] SEC("license") = "GPL";

#include "probes/queues.bpf.h"
#include "probes/send.bpf.h"
#include "probes/receive.bpf.h"
#include "probes/firewall.bpf.h"
#include "probes/drops.bpf.h"
#include "probes/tcp_events.bpf.h"
#include "probes/calls.bpf.h"
#include "probes/socket_calls.bpf.h"
#include "probes/raw.bpf.h"
#include "probes/functions.bpf.h"
#include "probes/timers.bpf.h"
