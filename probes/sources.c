/* SPDX-License-Identifier: GPL-2.0 */
/* Where events of stable probes are seen: which places this kernel has, and how exact they are. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/btf.h>

#include "lib/kernel/btf.h"
#include "lib/kernel/feature.h"
#include "lib/kernel/tracefs.h"
#include "lib/util/error.h"
#include "lib/util/list.h"
#include "lib/util/log.h"
#include "probes/functions.h"
#include "probes/question.h"
#include "probes/raw.h"
#include "probes/source.h"

#define H(group)	(1ull << GROUP_##group)

static const struct {
	const char *name;	/* as BPF sections are called; the event behind the "/" */
	const char *kind;	/* what --source calls it */
} sources[] = {
#define TP(event)	[SOURCE_##event] = { "tp_btf/" #event, "tp" }
	TP(net_dev_queue), TP(net_dev_start_xmit), TP(net_dev_xmit), TP(netif_receive_skb),
	[SOURCE_driver_delivers] = { "tp_btf/napi_gro_receive_entry", "tp" },
	TP(kfree_skb), TP(consume_skb), TP(napi_poll), TP(xdp_exception), TP(xdp_redirect),
	TP(inet_sock_set_state), TP(tcp_send_reset), TP(tcp_receive_reset),
	TP(tcp_retransmit_skb), TP(tcp_retransmit_synack), TP(tcp_cong_state_set),
	TP(udp_fail_queue_rcv_skb), TP(sock_send_length), TP(sock_recv_length),
	[SOURCE_nf_post_routing] = { "netfilter POST_ROUTING", "nf" },
	[SOURCE_nf_local_in] = { "netfilter LOCAL_IN", "nf" },
	[SOURCE_cgroup_ingress] = { "cgroup_skb ingress", "cgroup" },
	[SOURCE_sock_ops] = { "sockops", "cgroup" },
	[SOURCE_sock_create] = { "cgroup/sock_create", "cgroup" },
	[SOURCE_syscall_enter] = { "tracepoint syscalls:sys_enter_*", "tp" },
	[SOURCE_syscall_exit] = { "tracepoint syscalls:sys_exit_*", "tp" },
	[SOURCE_socket_enter] = { "tracepoint syscalls:sys_enter_*", "tp" },
	[SOURCE_socket_exit] = { "tracepoint syscalls:sys_exit_*", "tp" },
	[SOURCE_sock_release] = { "cgroup/sock_release", "cgroup" },
#define NF(name, hook, where)	[SOURCE_nf_##name] = { "netfilter " hook " (" where ")", "nf" }
	NF(pre_first, "PRE_ROUTING", "first"), NF(pre_last, "PRE_ROUTING", "last"),
	NF(forward_first, "FORWARD", "first"), NF(forward_last, "FORWARD", "last"),
	NF(post_first, "POST_ROUTING", "first"), NF(local_out, "LOCAL_OUT", "first"),
	TP(irq_handler_exit), [SOURCE_rtnetlink] = { "rtnetlink RTM_NEWLINK", "netlink" },
	[SOURCE_fbt_enter] = { "the entry of functions", "function" },
	[SOURCE_fbt_exit] = { "the return of functions", "function" },
	[SOURCE_sdt_event] = { "raw tracepoints", "tp" },
#define FN(source, way, function)	[SOURCE_fn_##source] = { way "/" function, "function" }
	FN(ip_output, "fentry", "ip_finish_output"),
	FN(ip_input, "fentry", "ip_protocol_deliver_rcu"),
	FN(udp_input, "fentry", "udp_queue_rcv_skb"),
	FN(sendmsg, "fexit", "inet_sendmsg"), FN(recvmsg, "fexit", "inet_recvmsg"),
	FN(close, "fentry", "sock_close"), FN(time_wait, "fexit", "inet_twsk_alloc"),
	FN(keepalive, "fentry", "tcp_write_wakeup"), FN(probe, "fentry", "tcp_send_probe0"),
	FN(delack, "fexit", "tcp_delack_timer_handler"),
	TP(timer_expire_entry), TP(timer_expire_exit),
};

const char *source_name(enum source s)
{
	return sources[s].name;
}

static const char *cgroup_lacks(enum source s)
{
	if (kernel_lacks(FEATURE_CGROUP))
		return kernel_lacks(FEATURE_CGROUP);
	if ((s == SOURCE_cgroup_ingress || s == SOURCE_sock_release) &&
	    !kernel_function("bpf_cast_to_kern_ctx"))
		return "this kernel is older than 6.2, which gave such programs the packet or the "
		       "socket";
	return NULL;
}

static const char *netfilter_lacks(void)
{
	if (kernel_lacks(FEATURE_NETFILTER))
		return kernel_lacks(FEATURE_NETFILTER);
	return kernel_type("bpf_nf_ctx", BTF_KIND_STRUCT) > 0 ? NULL :
	       "this kernel has no BPF programs for netfilter (6.4, CONFIG_NETFILTER_BPF_LINK)";
}

static const char *tracepoint_lacks(enum source s)
{
	const char *event = strchr(sources[s].name, '/') + 1;

	if (kernel_lacks(FEATURE_TP_BTF))
		return kernel_lacks(FEATURE_TP_BTF);
	if (!tracepoint_args(event))
		return text("this kernel has no tracepoint %s", event);
	/* (sk, skb) up to 6.9, where it fires only for a full socket */
	if (s == SOURCE_tcp_send_reset && tracepoint_args(event) < 3)
		return "this kernel is older than 6.10: tcp_send_reset tells only of resets by "
		       "sockets";
	return s == SOURCE_timer_expire_exit ? timers_lack() : NULL;
}

static const char *syscalls_lack(void)
{
	return tracefs_event_of("syscalls", "sys_enter_read") ? NULL :
	       "this kernel has no tracepoints of system calls (CONFIG_FTRACE_SYSCALLS is off)";
}

static bool is_of(enum source s, const char *kind)
{
	return !strcmp(sources[s].kind, kind);
}

static bool is_of_calls(enum source s)
{
	return !strncmp(sources[s].name, "tracepoint ", 11);
}

const char *source_lacks(enum source s)
{
	static char why[NR_SOURCES][200];
	static bool asked[NR_SOURCES];
	const char *lacks;

	if (!asked[s]) {
		lacks = is_of(s, "nf") ? netfilter_lacks() :
			is_of(s, "cgroup") ? cgroup_lacks(s) :
			s == SOURCE_rtnetlink ? NULL :
			is_of_calls(s) ? syscalls_lack() :
			s == SOURCE_fbt_enter || s == SOURCE_fbt_exit ?
			raw_functions_lack() :
			s == SOURCE_sdt_event ? kernel_lacks(FEATURE_RAW_TP) :
			source_is_function(s) ? functions_lack(s) : tracepoint_lacks(s);
		snprintf(why[s], sizeof(why[s]), "%s", lacks ?: "");
		asked[s] = true;
	}
	return *why[s] ? why[s] : NULL;
}

static const char *groups_text(__u64 groups)
{
	static const char *const names[NR_GROUPS] = {
		[GROUP_PROC] = "the process", [GROUP_CS] = "the socket",
		[GROUP_CID] = "the socket", [GROUP_ENDS] = "the socket",
		[GROUP_TCPENDS] = "the socket", [GROUP_UDPENDS] = "the socket",
		[GROUP_TCPS] = "the TCP socket", [GROUP_TCP] = "the TCP header",
		[GROUP_QUEUE] = "the queue", [GROUP_ETH] = "the Ethernet header",
		[GROUP_IF] = "the interface", [GROUP_PKT] = "the packet",
		[GROUP_SCTP] = "the SCTP header", [GROUP_IPV4] = "the IPv4 header",
		[GROUP_IPV6] = "the IPv6 header",
		[GROUP_KSTACK] = "the stack of the kernel",
		[GROUP_USTACK] = "the stack of the process",
	};

	for (int g = 0; g < NR_GROUPS; g++)
		if (groups >> g & 1)
			return names[g] ?: "these fields";
	return "";
}

/* Why the last candidate does not do. */
static int unserved(enum stable_probe probe, __u64 groups, const char *forced,
		    const struct serving *without, const char *lacks, struct error *e)
{
	if (without && (without->groups & groups) != groups)
		return error_set(e, -EOPNOTSUPP, text("nicprobe list -v %s", probe_name(probe)),
				 "%s does not know %s here: it sees its events at %s%s",
				 probe_name(probe), groups_text(groups & ~without->groups),
				 source_name(without->source),
				 groups & ~without->groups & H(PROC) ?
				 ", where a task that happens to run is interrupted" : "");
	if (forced && !lacks)
		return error_set(e, -EINVAL, text("nicprobe list -v %s", probe_name(probe)),
				 "--source %s: %s has no such source", forced, probe_name(probe));
	return error_set(e, -EOPNOTSUPP, NULL, "%s cannot be had here: %s", probe_name(probe),
			 lacks ?: "nothing in this kernel tells it");
}

/* Why a source does not see all network namespaces; NULL: it does. */
static const char *sees_one(enum source s)
{
	if (!strcmp(sources[s].kind, "nf"))
		return "netfilter programs see one network namespace";
	if (s == SOURCE_rtnetlink)
		return "rtnetlink tells of one network namespace";
	return s == SOURCE_irq_handler_exit ?
	       "interrupts are known by the interfaces of one network namespace" : NULL;
}

const struct serving *serving_for(enum stable_probe probe, __u64 groups, const char *forced,
				  bool everywhere, struct error *e)
{
	const struct serving *without = NULL;
	const char *lacks = NULL, *why;

	groups &= ~(H(BASE) | H(SINCE));
	for (const struct serving *s = servings; s->probe != NR_STABLE_PROBES; s++) {
		if (s->probe != probe || (forced && strcmp(sources[s->source].kind, forced)))
			continue;
		why = everywhere && sees_one(s->source) ? sees_one(s->source) :
							  source_lacks(s->source);
		if (why) {
			lacks = lacks ?: why;
			continue;
		}
		if ((s->groups & groups) == groups)
			return s;
		if (!without)
			without = s;
	}
	unserved(probe, groups, forced, without, lacks, e);
	return NULL;
}
