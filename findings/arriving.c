/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about received packets that find no ring slot, memory or CPU time below the stack. */
#include <inttypes.h>
#include <math.h>

#include "bpf/napi/napi.h"
#include "findings/pressure.h"
#include "findings/settings.h"
#include "findings/subjects.h"
#include "lib/core/nic_driver.h"
#include "lib/util/log.h"

enum { TOO_LONG, RING_FULL, BACKLOG_FULL, NO_MEMORY, RING_NEAR, BUDGET_LOW, POLL_LATE };

static const struct limit few = { 10, "10 packets" };
static const struct limit few_runs = { 10, "10" };
static const struct limit one = { 1, "one packet" };
static const struct limit near = { .75, "three quarters" };
static const struct limit squeezed = { .5, "half of the softirqs" };
static const struct limit late = { 10e-3, "10 ms" };

#define CPU_CAUSES "rps-one-cpu", "rps-few-cpus", "napi-threads-one-cpu", "irq-one-cpu", \
	"rx-one-flow", "rx-flows-collide", "rx-queues-uneven", "rx-one-queue"

static const struct limit share = { .001, "a thousandth of the packets" };

static const struct finding_kind kinds[] = {
	[TOO_LONG] = {
		.id = "rx-too-long", RATED(CRITICAL, LOSS),
		RESTS(RECEIVED, ON(drop) | ON(counters), 0),
		.title = "Packets exceed the MTU of this veth",
		.means = "The peer of the veth has a larger MTU and sends packets that are longer "
			 "than this end accepts. They are dropped below the stack without notice "
			 "to the sender: an MTU black hole.",
		.when = "at least {1} and {2} were dropped at a veth (rx_dropped), and neither by "
			"the stack nor by XDP (meters counters, drop)",
		.remedy = "Set the same MTU at both ends: ip link set dev IFACE mtu N.",
		.symptom = "Small requests work, large responses stall",
		.limits = { &few, &share },
	},
	[RING_FULL] = {
		.id = "rx-ring-full", RATED(CRITICAL, LOSS),
		RESTS(RECEIVED, 0, ON(hwstat) | ON(counters)),
		.title = "The receive ring is full and the card drops packets",
		.means = "The driver posts a ring of buffers to the card and takes packets out "
			 "when it polls. Packets that arrive while no buffer is free are dropped "
			 "by the card; the stack never sees them.",
		.when = "at least {1} found no buffer in the window (rx_missed, rx_no_buffer, or "
			"rx_missed_errors, rx_fifo_errors and rx_over_errors of the interface; for "
			"ena its rx_dropped, less what the stack dropped)",
		.silent = "Packets that the card drops for a virtual function: only its host can "
			  "count them.",
		.remedy = "A longer ring (ethtool -G) absorbs bursts. If the CPU is always busy, "
			  "it only delays the loss: spread the packets over more queues and CPUs "
			  "instead.",
		.symptom = "Packets are lost and no protocol counter of the host counts them",
		.limits = { &few },
		.follows = { CPU_CAUSES, "napi-budget-low", "xsk-fill-empty" },
	},
	[BACKLOG_FULL] = {
		.id = "backlog-full", RATED(CRITICAL, LOSS),
		RESTS(RECEIVED, 0, ON(drop) | ON(counters)),
		.title = "The backlog of a CPU is full",
		.means = "Packets that RPS steers to another CPU, and those of devices without "
			 "NAPI (loopback, tunnels, veth without GRO), wait in the backlog of that "
			 "CPU, which holds net.core.netdev_max_backlog packets. Packets that find "
			 "it full are dropped.",
		.when = "at least {1} were dropped with CPU_BACKLOG in the window (softnet_stat, "
			"column 2)",
		.remedy = "A longer backlog absorbs bursts: net.core.netdev_max_backlog. If a CPU "
			  "is always busy, spread the packets: more CPUs in rps_cpus.",
		.symptom = "Packets are lost and the card does not count them",
		.limits = { &few },
		.follows = { CPU_CAUSES, "napi-budget-low" },
	},
	[NO_MEMORY] = {
		.id = "rx-no-memory", RATED(CRITICAL, LOSS),
		RESTS(RECEIVED, 0, ON(hwstat) | ON(counters)),
		.title = "The driver gets no memory for receive buffers",
		.means = "The driver could not allocate pages for its ring in a context that may "
			 "not sleep. The ring runs dry and packets are dropped.",
		.when = "at least {1} had no buffer because an allocation failed (rx_alloc_fail)",
		.remedy = "Keep more memory free: vm.min_free_kbytes.",
		.symptom = "Packets are lost when memory is short",
		.limits = { &one },
	},
	[RING_NEAR] = {
		.id = "rx-ring-near", RATED(WARNING, RISK),
		RESTS(RECEIVED, ON(napi), 0),
		.title = "Bursts almost fill the receive ring",
		.means = "Consecutive polls took so many packets from a queue without emptying it "
			 "that its ring must have been almost full. A slightly larger burst will "
			 "lose packets.",
		.when = "consecutive polls, each of which used up its budget, took {2} of the "
			"ring, in at least {1} runs, and the ring can be made longer",
		.remedy = "A longer ring: ethtool -G IFACE rx N; more queues help, too.",
		.symptom = "Packets are lost now and then",
		.limits = { &few_runs, &near },
		.follows = { "rx-ring-full", "backlog-full", CPU_CAUSES },
	},
	[BUDGET_LOW] = {
		.id = "napi-budget-low", RATED(WARNING, RISK),
		RESTS(RECEIVED, ON(napi), 0),
		.title = "The softirq budget is below the kernel's default",
		.means = "A softirq that has taken net.core.netdev_budget packets, or has run for "
			 "netdev_budget_usecs, stops with packets left in the rings "
			 "(time_squeeze). They wait for the next softirq, which often runs in "
			 "ksoftirqd and competes with other processes.",
		.when = "at least {1} that polled this interface were cut short, and netdev_budget "
			"is below 300 or netdev_budget_usecs below 2000",
		.silent = "Softirqs that are cut short under full load with the default budget: "
			  "the budget exists to limit them.",
		.remedy = "sysctl -w net.core.netdev_budget=300 net.core.netdev_budget_usecs=8000",
		.symptom = "Packets are late or lost although the CPU is not busy",
		.limits = { &squeezed },
	},
	[POLL_LATE] = {
		.id = "napi-poll-late", RATED(WARNING, WAIT),
		RESTS(RECEIVED, ON(napi), 0),
		.title = "Polls begin late",
		.means = "The interrupt raised the softirq, but the poll began much later: another "
			 "softirq or code with interrupts disabled held the CPU, or the softirq "
			 "was deferred to ksoftirqd, which waits to be scheduled.",
		.when = "half of the polls began {1} or more after their softirq was raised",
		.remedy = "Move other work off that CPU, or poll in threads with a real-time "
			  "priority: echo 1 > /sys/class/net/IFACE/threaded, chrt -f -p 50 PID.",
		.symptom = "Latency of milliseconds on an idle network",
		.limits = { &late },
		.follows = { "napi-budget-low", CPU_CAUSES },
	},
};

/*
 * rx_dropped also counts packets that no protocol takes (__netif_receive_skb_core()), packets that
 * find the backlog full (enqueue_to_backlog()), and what the driver dropped for XDP. All of these
 * are known from elsewhere and subtracted.
 */
static void judge_long(struct evidence *e)
{
	uint64_t n = kernel_counted(e, "ip -s link", "rx_dropped"), others;
	const struct driver *d = driver_find(e->s->meta.driver);
	struct finding *f;

	if (!d->drops_long || !has(e, METER_drop))
		return;
	others = dropped_for(e, "UNHANDLED_PROTO") + dropped_for(e, "OTHERHOST") +
		 dropped_by(e, "xdp", NULL) + backlog_losses(e) +
		 counted_like(e, "ethtool -S", (const char *const []){ "_drops", NULL });
	n -= n < others ? n : others;
	/* the two were not read at the same moment */
	if (n * 10 < others || !worth(e, n, few.value) || n < share.value * received(e, -1, -1))
		return;
	f = finding_add(e->f, &kinds[TOO_LONG], -1, "%s of %s",
			packets(n, "exceeded the MTU"), e->s->meta.iface);
	finding_counted(e, f, n, "lost", "packets");
	finding_advise(f, "its peer has a larger MTU: ip link show dev %s shows where it is "
		       "(link-netns); set the same at both: ip link set dev %s mtu N",
		       e->s->meta.iface, e->s->meta.iface);
}

static void fix_ring(struct evidence *e, struct finding *f, long long now, long long longer)
{
	finding_fix(f, "ethtool", "-G", e->s->meta.iface, "rx", text("%lld", longer));
	finding_changes(f, "receive ring from %lld to %lld; the link may stop for a moment", now,
			longer);
}

static void judge_ring(struct evidence *e)
{
	struct pressure p = pressure_of(e);
	long long now, longer;
	struct finding *f;
	int queue;
	uint64_t n = ring_losses(e, &queue);

	if (!worth(e, n, few.value))
		return;
	longer = ring_longer(e, "rx", &now);	/* last: it reads the whole setup */
	f = finding_add(e->f, &kinds[RING_FULL], queue,
			"%" PRIu64 " packet%s found no room in the receive ring%s%s",
			n, n == 1 ? "" : "s", queue < 0 ? "" : text(", most of them on queue %d",
								    queue),
			now > 0 ? text("; it holds %lld", now) : "");
	finding_counted(e, f, n, "lost", "packets");
	if (now > 0)
		finding_fact(f, "ring", now, "packets");
	if (longer && !p.pressed)
		fix_ring(e, f, now, longer);
	else if (p.pressed)
		finding_advise(f, "its CPU is always busy: a longer ring would only delay the "
			       "loss");
	else
		finding_advise(f, now > 0 ? "the ring is already as long as the card allows: "
			       "spread the packets over more queues" :
			       "ethtool -g %s; more queues: ethtool -l %s",
			       e->s->meta.iface, e->s->meta.iface);
}

static void judge_backlog(struct evidence *e)
{
	uint64_t n = backlog_losses(e);
	unsigned long most;
	struct finding *f;
	bool host;

	if (!worth(e, n, few.value))
		return;
	most = sysctl_value(e, "net/core/netdev_max_backlog", &host);
	f = finding_add(e->f, &kinds[BACKLOG_FULL], -1,
			"%" PRIu64 " packets found the backlog of their CPU full; it holds %lu", n,
			most);
	finding_counted(e, f, n, "lost", "packets");
	finding_fact(f, "backlog", most, "packets");
	if (!most)
		return;
	finding_fix(f, "sysctl", "-w", text("net.core.netdev_max_backlog=%lu", 4 * most));
	finding_changes(f, "backlog of each CPU from %lu to %lu packets", most, 4 * most);
	if (f)
		f->host = host;
}

static const char *const alloc_fails[] = {
	"alloc_fail", "alloc fail", "buff_fail", "page_fail", "alloc_err", NULL
};

static void judge_memory(struct evidence *e)
{
	int queue;
	uint64_t n = card_counted(e, "rx_alloc_fail", &queue) ?:
		     counted_like(e, "ethtool -S", alloc_fails);
	unsigned long kept;
	struct finding *f;
	bool host;

	if (!worth(e, n, one.value))
		return;
	kept = sysctl_value(e, "vm/min_free_kbytes", &host);
	f = finding_add(e->f, &kinds[NO_MEMORY], queue,
			"%" PRIu64 " time%s the driver got no memory for a receive buffer",
			n, n == 1 ? "" : "s");
	finding_counted(e, f, n, "failed", "buffers");
	if (!kept)
		return;
	finding_fix(f, "sysctl", "-w", text("vm.min_free_kbytes=%lu", 2 * kept));
	finding_changes(f, "memory kept free from %lu to %lu kB", kept, 2 * kept);
}

/* A ring at its maximum length is not reported before it loses packets: see rx-ring-full. */
static void judge_near(struct evidence *e, unsigned row, uint64_t runs)
{
	long long now, longer = ring_longer(e, "rx", &now);
	struct finding *f;

	if (!longer || !worth(e, runs, few_runs.value))
		return;
	f = finding_add(e->f, &kinds[RING_NEAR], row,
			"%" PRIu64 " bursts filled at least three quarters of the ring of receive "
			"queue %u, which holds %u",
			runs, row,
			e->s->meta.rx_ring);
	finding_harm(f, near.value);
	finding_strikes(f, rate(e, received(e, row, -1)));
	finding_fact(f, "runs", runs, "bursts");
	finding_fact(f, "ring", e->s->meta.rx_ring, "packets");
	fix_ring(e, f, now, longer);
}

/* All queues together: a softirq belongs to a CPU, whichever queue it polled last. */
static void judge_budget(struct evidence *e, uint64_t softirqs, uint64_t cut)
{
	unsigned long budget, usecs;
	bool host, host2;
	struct finding *f;

	if (!worth(e, cut, few.value) || cut < squeezed.value * softirqs)
		return;
	budget = sysctl_value(e, "net/core/netdev_budget", &host);
	usecs = sysctl_value(e, "net/core/netdev_budget_usecs", &host2);
	if (!budget || !usecs || (budget >= 300 && usecs >= 2000))
		return;
	f = finding_add(e->f, &kinds[BUDGET_LOW], -1,
			"%" PRIu64 " softirqs stopped with packets left: net.core.netdev_budget is "
			"%lu packets, netdev_budget_usecs %lu",
			cut, budget, usecs);
	finding_harm(f, softirqs ? fmin(1, (double)cut / softirqs) : 1);
	finding_strikes(f, rate(e, received(e, -1, -1)));
	finding_fact(f, "squeezed", cut, "softirqs");
	finding_fact(f, "budget", budget, "packets");
	finding_fix(f, "sysctl", "-w", "net.core.netdev_budget=300",
		    "net.core.netdev_budget_usecs=8000");
	finding_changes(f, "the kernel's default budget");
	if (f)
		f->host = host;
}

static void judge_late(struct evidence *e, unsigned row, const uint64_t *words)
{
	const struct metric *k = metric_of(&meter_napi, "wait");
	double p50 = hist_percentile(k, words, .5);
	struct finding *f;

	if (isnan(p50) || p50 < late.value || !worth(e, hist_count(k, words), few.value))
		return;
	f = finding_add(e->f, &kinds[POLL_LATE], row,
			"polls of queue %u begin %s (median) after their softirq was raised",
			row, finding_time(p50));
	finding_harm(f, p50);
	finding_strikes(f, rate(e, received(e, row, -1) ?: hist_count(k, words)));
	finding_fact(f, "wait", p50, "seconds");
	finding_fix(f, "sh", "-c", text("echo 1 > /sys/class/net/%s/threaded", e->s->meta.iface));
	finding_changes(f, "a thread of its own polls each queue, and the scheduler places it");
}

static void judge(struct evidence *e)
{
	const struct table *t = &e->s->tables[METER_napi];
	uint64_t softirqs = 0, cut = 0;

	judge_long(e);
	judge_ring(e);
	judge_backlog(e);
	judge_memory(e);
	for (unsigned row = 0; has(e, METER_napi) && row < t->rows; row++) {
		const struct napi *n = (const void *)row_words(t, row, 0);

		if (cell_idle(t, row, 0))
			continue;
		softirqs += n->polls[NAPI_SOFTIRQ] + n->polls[NAPI_KSOFTIRQD];
		cut += n->squeezed;
		if (row < e->s->meta.rx_queues && e->s->meta.rx_ring)
			judge_near(e, row, n->near);
		if (row < e->s->meta.rx_queues)
			judge_late(e, row, words_at(&n->wait.sum));
	}
	judge_budget(e, softirqs, cut);
}

DEFINE_SUBJECT(arriving, "Arriving: ring, polls, backlog, memory")
