/* SPDX-License-Identifier: GPL-2.0 */
/* Whether the functions by which a source sees its events are there, and are what is called. */
#include <string.h>

#include "lib/kernel/btf.h"
#include "lib/kernel/feature.h"
#include "lib/kernel/symbol.h"
#include "lib/trace/kallsyms.h"
#include "lib/util/list.h"
#include "lib/util/log.h"
#include "probes/functions.h"

#define MOST	4

/* Those of other families than inet and inet6 may be in modules: then they do not count. */
static const struct {
	enum source source;
	const char *names[MOST];
} needed[] = {
	{ SOURCE_fn_ip_output, { "ip_finish_output", "ip6_finish_output" } },
	{ SOURCE_fn_ip_input, { "ip_protocol_deliver_rcu", "ip6_protocol_deliver_rcu",
				"ipv6_frag_rcv" } },
	{ SOURCE_fn_udp_input, { "udp_queue_rcv_skb", "udpv6_queue_rcv_skb" } },
	{ SOURCE_fn_sendmsg, { "inet_sendmsg", "inet6_sendmsg" } },
	{ SOURCE_fn_recvmsg, { "inet_recvmsg", "inet6_recvmsg" } },
	{ SOURCE_fn_close, { "sock_close" } },
	{ SOURCE_fn_time_wait, { "inet_twsk_alloc", "tcp_timewait_state_process" } },
	{ SOURCE_fn_keepalive, { "tcp_write_wakeup" } },
	{ SOURCE_fn_probe, { "tcp_send_probe0" } },
	{ SOURCE_fn_delack, { "tcp_delack_timer_handler" } },
};

/* Of needed[], by its index. */
static struct {
	bool read, cloned[NR_OF(needed)][MOST];
	unsigned seen[NR_OF(needed)][MOST];
} symbols;

/* "NAME.constprop.0" or "NAME.part.0" is called where NAME would have been. */
static void symbol_see(const struct kallsym *s, void *arg)
{
	size_t len = strcspn(s->name, ".");

	(void)arg;
	if (*s->module || s->tracepoint || !strchr("tT", s->type) ||
	    !strcmp(s->name + len, ".cold"))
		return;
	for (unsigned i = 0; i < NR_OF(needed); i++)
		for (unsigned j = 0; j < MOST && needed[i].names[j]; j++) {
			if (strlen(needed[i].names[j]) != len ||
			    strncmp(needed[i].names[j], s->name, len))
				continue;
			if (s->name[len])
				symbols.cloned[i][j] = true;
			else
				symbols.seen[i][j]++;
		}
}

static const char *function_lacks(unsigned i, unsigned j)
{
	const char *name = needed[i].names[j];

	if (!kernel_function(name) || !symbols.seen[i][j])
		return text("this kernel has no function %s to attach to", name);
	if (symbols.seen[i][j] > 1)
		return text("this kernel has several functions %s", name);
	if (symbols.cloned[i][j])
		return text("the compiler of this kernel made copies of %s, which are called in "
			    "its place", name);
	return NULL;
}

const char *functions_lack(enum source s)
{
	const char *lacks = kernel_lacks(FEATURE_FENTRY);

	if (lacks)
		return text("no program can be attached to functions: %s", lacks);
	if (!symbols.read && kallsyms_each(symbol_see, NULL))
		return "/proc/kallsyms cannot be read";
	symbols.read = true;
	for (unsigned i = 0; i < NR_OF(needed); i++)
		for (unsigned j = 0; j < MOST && needed[i].names[j]; j++) {
			lacks = needed[i].source == s ? function_lacks(i, j) : NULL;
			if (lacks)
				return lacks;
		}
	return NULL;
}

bool source_is_function(enum source s)
{
	for (unsigned i = 0; i < NR_OF(needed); i++)
		if (needed[i].source == s)
			return true;
	return false;
}

static const char *const timers[NR_TCP_TIMERS] = {
	[TIMER_KEEPALIVE] = "tcp_keepalive_timer", [TIMER_WRITE] = "tcp_write_timer",
	[TIMER_DELACK] = "tcp_delack_timer",
};

ONE_EACH(timers, NR_TCP_TIMERS);

__u64 timer_function(enum tcp_timer t)
{
	return symbol_address(timers[t]);
}

const char *timers_lack(void)
{
	for (int t = 0; t < NR_TCP_TIMERS; t++)
		if (!timer_function(t))
			return text("/proc/kallsyms does not tell where %s is", timers[t]);
	return NULL;
}
