/* SPDX-License-Identifier: GPL-2.0 */
/* The meter napi: polls, and how they are timed. */
#include <inttypes.h>
#include <string.h>

#include "bpf/napi/napi.h"
#include "lib/attach/attach.h"
#include "lib/core/hook.h"
#include "lib/kernel/feature.h"
#include "lib/read/snapshot.h"
#include "lib/util/log.h"

static const char *const by[] = {
	[NAPI_SOFTIRQ] = "softirq",
	[NAPI_KSOFTIRQD] = "ksoftirqd",
	[NAPI_THREAD] = "thread",
	[NAPI_BUSY_POLL] = "busy-poll",
	[NAPI_NETPOLL] = "netpoll",
};

static const char *const timed[] = {
	[NAPI_EXACT] = "exact",
	[NAPI_BOUND] = "bound",
	[NAPI_UNTIMED] = "none",
};

static const uint64_t bounds[] = { COUNTS_BOUNDS };

#define COUNTS(field, ...) HISTOGRAM(struct napi, field, .unit = "packets", .scale = 1, \
	.bounds = BOUNDS(struct napi, field, bounds), .steps = COUNTS_STEPS, __VA_ARGS__)

static const struct metric metrics[] = {
	COUNTS(work, .name = "work",
	       .help = "Packets per poll; the sum is all packets."),
	COUNTER(struct napi, polls, .name = "polls", .unit = "polls", .label = "by",
		.labels = LABELS(struct napi, polls, by),
		.help = "Polls, by who polled."),
	COUNTER(struct napi, exhausted, .name = "exhausted", .unit = "polls",
		.help = "Polls, except busy polls, that used up their budget: more may wait."),
	COUNTER(struct napi, squeezed, .name = "squeezed", .unit = "softirqs",
		.help = "Softirqs cut short (time_squeeze) in which this NAPI had the longest "
			"poll."),
	COUNTS(burst, .name = "burst_100us",
	       .help = "Packets per 100 us, empty ones excluded."),
	COUNTS(burst_long, .name = "burst_1ms",
	       .help = "Packets per millisecond, empty ones excluded."),
	COUNTS(run, .name = "run",
	       .help = "Packets in consecutive polls that each used up their budget."),
	COUNTER(struct napi, near, .name = "near_ring", .unit = "runs",
		.help = "Runs that reached three quarters of the size of the receive ring."),
	HISTOGRAM(struct napi, wait, .name = "wait", .unit = "seconds", .scale = 1e-9,
		  .help = "Time from the raise of the softirq until the poll began."),
	HISTOGRAM(struct napi, time, .name = "poll", .unit = "seconds", .scale = 1e-9,
		  .help = "Time in a poll."),
	COUNTER(struct napi, timed, .name = "timed", .unit = "polls",
		.label = "how", .labels = LABELS(struct napi, timed, timed),
		.help = "Polls whose time is exact, an upper bound, or not known."),
	COUNTER(struct napi, tx_polls, .name = "tx", .unit = "polls",
		.help = "Polls of the NAPI that only completes sent packets of this queue."),
	{}
};
enum { WORK, POLLS, EXHAUSTED, SQUEEZED, BURST, BURST_LONG, RUN, NEAR_RING };

static const char *absent(const struct site *site)
{
	return site->driver->no_napi;
}

static const char *idle(const struct site *site)
{
	if (site->config.polls)
		return NULL;
	if (site->driver->napi_by_opener)
		return "the program behind it asked for no NAPI (IFF_NAPI); once one does, "
		       "attach -m +napi adds this";
	return text("%s has no NAPI while GRO is off and it has no native XDP program; "
		    "once it has, attach -m +napi adds this", site->driver->name);
}

static const char *time_remark(const struct site *site)
{
	if (!site->config.percpu)
		return "no squeezed, no wait, and ksoftirqd counts as softirq: this kernel does "
		       "not describe its per-CPU variables";
	if (kernel_lacks(FEATURE_FENTRY) || !kernel_enters("__napi_poll"))
		return "polls are timed from the previous event on their CPU, which is a little "
		       "too long; polls outside softirqs (threads, busy polls) are not timed";
	return "polls are timed from entry to end, except busy polls";
}

/* object_load() passes netdev-genl's mapping to the programs; without it they count ids. */
static const char *named(const struct queues *q)
{
	for (unsigned i = 0; i < q->nr_rx; i++)
		if (q->rx_napi[i])
			return "as reported by the driver (netdev-genl)";
	return "by the order of the instances";
}

static const char *remark(const struct site *site)
{
	if (site->config.rx_queues == 1)
		return time_remark(site);
	return text("queues %s; %s", named(&site->queues), time_remark(site));
}

static void window_close(__u64 *hist, struct napi_window *w, uint64_t now)
{
	const struct metric *k = &metrics[BURST];
	unsigned slot = 0;

	/* Wait one window more: a poll at the end of this one may not have been counted yet. */
	if (!w->packets || w->nr + 1 >= now)
		return;
	while (slot < hist_slots(k) - 1 && w->packets > bounds[slot])
		slot++;
	hist[0] += w->packets;
	hist[1 + slot]++;
}

static void row_close(uint64_t *words, uint64_t now)
{
	struct napi *row = (void *)words;

	window_close(&row->burst.sum, &row->window, now / NAPI_WINDOW);
	window_close(&row->burst_long.sum, &row->window_long, now / NAPI_WINDOW / NAPI_LONG);
	row->raised = row->running = 0;
	row->window = row->window_long = (struct napi_window){};
}

const struct meter meter_napi = {
	.name = "napi",
	.help = "polls of the driver: work, bursts, waits, by receive queue",
	.type = EVENT_METER,
	.by = BY_QUEUE,
	.napis = true,
	.point = RX_NIC,
	.row_size = sizeof(struct napi),
	.lead = offsetof(struct napi, wait) / 8,
	.metrics = metrics,
	.row_close = row_close,
	.absent = absent,
	.idle = idle,
	.remark = remark,
};
