/* SPDX-License-Identifier: GPL-2.0 */
/* How the load of the receive queues is spread over queues and CPUs, and when it is not. */
#include "../lib/driver.h"
#include "../lib/log.h"
#include "rxcpu.h"
#include "spread.h"

static const struct metric metrics[] = {
	COUNTER(struct rxcpu, packets, .name = "packets", .unit = "packets",
		.help = "Packets of a receive queue by the CPU that took them from the driver."),
	COUNTER(struct rxcpu, bytes, .name = "bytes", .unit = "bytes",
		.help = "Bytes of a receive queue by the CPU that took them from the driver."),
	{}
};

#define ENOUGH 1000	/* fewer packets say nothing about how they are spread */

/* Far more than its share: 1.5 times, and 25 percent points above. Shares are 0 to 1. */
static bool uneven(double share, unsigned of)
{
	double fair = 1.0 / of;

	return of > 1 && share > 1.5 * fair && share >= fair + .25;
}

static uint64_t packets_of(const struct table *t, unsigned row, unsigned cpu)
{
	return *cell(t, row, cpu, &metrics[0]);
}

static uint64_t row_total(const struct table *t, unsigned row)
{
	uint64_t n = 0;

	for (unsigned cpu = 0; cpu < t->cpus; cpu++)
		n += packets_of(t, row, cpu);
	return n;
}

static uint64_t cpu_total(const struct table *t, unsigned cpu)
{
	uint64_t n = 0;

	for (unsigned row = 0; row < t->rows; row++)
		n += packets_of(t, row, cpu);
	return n;
}

static uint64_t total_of(const struct snapshot *s)
{
	const struct table *t = &s->tables[METER_rxcpu];
	uint64_t n = 0;

	for (unsigned row = 0; t->cells && row < t->rows; row++)
		n += row_total(t, row);
	return n;
}

bool queue_is_hot(const struct snapshot *s, unsigned queue)
{
	const struct table *t = &s->tables[METER_rxcpu];
	uint64_t total = total_of(s);

	if (total < ENOUGH || queue >= t->rows)
		return false;
	if (s->meta.rx_queues > 1)
		return uneven((double)row_total(t, queue) / total, s->meta.rx_queues);
	for (unsigned cpu = 0; cpu < t->cpus; cpu++)
		if (uneven((double)cpu_total(t, cpu) / total, s->online))
			return true;
	return false;
}

double queue_share(const struct snapshot *s, unsigned queue)
{
	return (double)row_total(&s->tables[METER_rxcpu], queue) / total_of(s);
}

/* It is one flow, which nothing spreads, and flow says that. */
static bool flow_says(const struct snapshot *s, const struct largest *flow)
{
	return flow_fills(flow) && s->wanted >> METER_flow & 1;
}

/* What spreads packets over the queues, where the driver's table knows better than ethtool. */
static const char *spread(const struct snapshot *s, const struct largest *flow)
{
	if (flow_fills(flow))
		return text("it is one flow, which no table spreads: nicprobe show %s flow",
			    s->name);
	return driver_find(s->meta.driver)->spread ?:
	       text("ethtool -X %s equal %u; if few flows carry it, hash their ports, too: "
		    "ethtool -N %s rx-flow-hash udp4 sdfn", s->meta.iface, s->meta.rx_queues,
		    s->meta.iface);
}

/* ", in 200 flows": then it is how they are spread, and not one of them. */
static const char *in_flows(const struct largest *flow)
{
	if (!flow->known || flow_fills(flow))
		return "";
	return text(", in %u flows, the largest about %.0f%%", flow->flows, 100 * flow->share);
}

/* Whether there is one: its CPU has much to do then, too. */
static bool judge_queues(const struct snapshot *s, struct findings *f, uint64_t total)
{
	const struct table *t = &s->tables[METER_rxcpu];
	unsigned queues = s->meta.rx_queues;
	bool any = false;

	for (unsigned row = 0; row < t->rows; row++) {
		double share = (double)row_total(t, row) / total;
		struct largest flow;

		if (place_of(s, &meter_rxcpu, row).queue < 0 || !uneven(share, queues))
			continue;
		any = true;
		flow = flow_largest(s, row);
		if (flow_says(s, &flow))
			continue;
		finding(f, "rxcpu", spread(s, &flow), "queue %u carries %.0f%% of the packets, "
			"%.1f times its share of %.0f%%%s", row, 100 * share, share * queues,
			100.0 / queues, in_flows(&flow));
	}
	return any;
}

/* RPS hashes flows, too. */
static const char *more_cpus(const struct snapshot *s)
{
	struct largest flow = flow_largest(s, -1);
	unsigned of = s->online;

	if (flow_fills(&flow))
		return text("it is one flow, which neither RPS nor more queues spread: "
			    "nicprobe show %s flow", s->name);
	if (s->meta.rx_queues > 1 && !driver_find(s->meta.driver)->spread)
		return "spread the interrupts of the queues: /proc/irq/N/smp_affinity_list, or let "
		       "irqbalance do it";
	return text("let other CPUs help (RPS), for each queue N: "
		    "echo %x > /sys/class/net/%s/queues/rx-N/rps_cpus",
		    (1u << (of < 31 ? of : 31)) - 1, s->meta.iface);
}

static void judge_cpus(const struct snapshot *s, struct findings *f, uint64_t total)
{
	const struct table *t = &s->tables[METER_rxcpu];
	struct largest flow = flow_largest(s, -1);
	unsigned of = s->online;

	for (unsigned cpu = 0; cpu < t->cpus; cpu++) {
		double share = (double)cpu_total(t, cpu) / total;

		if (uneven(share, of) && !flow_says(s, &flow) &&
		    finding_about(f, ABOUT_ONE_CPU, "rxcpu"))
			finding(f, "rxcpu", more_cpus(s), "CPU %u takes %.0f%% of the packets, "
				"%.1f times its share of %.0f%%", cpu, 100 * share, share * of,
				100.0 / of);
	}
}

static void judge(const struct snapshot *s, struct findings *f)
{
	uint64_t total = total_of(s);

	if (total < ENOUGH)
		return;
	if (!judge_queues(s, f, total))
		judge_cpus(s, f, total);
}

const struct meter meter_rxcpu = {
	.name = "rxcpu",
	.help = "which CPU takes the packets of which receive queue",
	.by = BY_QUEUE | BY_CPU,
	.point = RX_NIC,
	.row_size = sizeof(struct rxcpu),
	.metrics = metrics,
	.judge = judge,
};
