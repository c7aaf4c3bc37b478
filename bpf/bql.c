/* SPDX-License-Identifier: GPL-2.0 */
/* How byte queue limits and stopped queues are shown, and when a limit or a ring is wrong. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "../lib/iface.h"
#include "../lib/log.h"
#include "../lib/snapshot.h"
#include "../lib/sysfs.h"
#include "bql.h"
#include "bql.skel.h"

static const char *const by[NR_BQL_BY] = {
	[BQL_BY_DRIVER] = "driver",
	[BQL_BY_BQL] = "bql",
};

enum { BY_BQL, BY_DRIVER, STOPS, STOPPED, IDLE, STARVED, STALLS, FILL, IN_FLIGHT };

static const struct metric metrics[] = {
	[BY_BQL] = HISTOGRAM(struct bql, by_bql, .name = "stopped_by_bql", .unit = "seconds",
		.scale = 1e-9,
		.help = "How long packets could not go because the byte limit was reached."),
	[BY_DRIVER] = HISTOGRAM(struct bql, by_driver, .name = "stopped_by_driver",
		.unit = "seconds", .scale = 1e-9,
		.help = "How long packets could not go because the driver stopped the queue."),
	[STOPS] = COUNTER(struct bql, stops, .name = "stops", .unit = "stops",
		.label = "by", .labels = by, .help = "Times the queue was found stopped."),
	[STOPPED] = LEVEL(struct bql, came, .name = "stopped", .unit = "queues",
		.help = "1: the queue is stopped now, or nothing was sent since it was."),
	[IDLE] = COUNTER(struct bql, idle, .name = "idle", .unit = "stops",
		.help = "Stops during which there was nothing to send: no time is counted."),
	[STARVED] = COUNTER(struct bql, starved, .name = "starved", .unit = "stops",
		.help = "Stops by BQL that ended when the card had nothing left to send."),
	[STALLS] = COUNTER(struct bql, stalls, .name = "stalls", .unit = "stalls",
		.help = "Completions that the kernel found late, where stall_thrs asks for it."),
	[FILL] = HISTOGRAM(struct bql, fill, .name = "fill", .unit = "ratio",
		.scale = 1.0 / BQL_FULL,
		.help = "Bytes in flight after a hand-over, as a part of the limit."),
	[IN_FLIGHT] = HISTOGRAM(struct bql, in_flight, .name = "in_flight", .unit = "bytes",
		.scale = 1,
		.help = "Bytes in flight after a hand-over, as BQL counts them."),
	{}
};

#define ENOUGH	50	/* fewer stops say nothing */

#define LIMIT_FILE "queues/tx-%u/byte_queue_limits/%s"

/* A file of the queue's limits, to be written. */
static const char *limit_file(const struct snapshot *s, unsigned queue, const char *name)
{
	return text("/sys/class/net/%s/" LIMIT_FILE, s->meta.iface, queue, name);
}

/* What stands in it now; 0: not known, it is in another namespace. */
static unsigned long limit_now(const struct snapshot *s, unsigned queue, const char *name)
{
	unsigned long value = 0;
	int dir = -1;

	if (s->meta.netns == netns_inode())
		dir = sysfs_open(s->meta.iface, s->meta.ifindex);
	if (dir < 0)
		return 0;
	value = sysfs_number(dir, text(LIMIT_FILE, queue, name));
	close(dir);
	return value;
}

static const uint64_t *words(const struct snapshot *s, unsigned row, unsigned metric)
{
	return cell(&s->tables[METER_bql], row, 0, &metrics[metric]);
}

/*
 * The card ran dry while packets waited: the limit lets it have too few bytes. BQL raises it when
 * it sees that itself, but not above limit_max.
 */
static void judge_small(const struct snapshot *s, struct findings *f, unsigned queue)
{
	uint64_t stops = hist_count(&metrics[BY_BQL], words(s, queue, BY_BQL));
	uint64_t starved = *words(s, queue, STARVED);
	double most = hist_max(&metrics[IN_FLIGHT], words(s, queue, IN_FLIGHT));
	const char *file;
	unsigned long max;

	if (stops < ENOUGH || starved * 10 < stops)
		return;
	max = limit_now(s, queue, "limit_max");
	file = max && max < 2 * most ? "limit_max" : "limit_min";
	finding(f, "bql", text("echo %.0f > %s", 2 * most, limit_file(s, queue, file)),
		"the byte limit of queue %u is too small: packets waited, and in %" PRIu64 " of %"
		PRIu64 " stops by BQL the card, given %.0f kB at most, ran dry",
		queue, starved, stops, most / 1000);
}

#define LONG_QUEUE	4e-3	/* seconds that the driver has a packet… */
#define MUCH_IN_FLIGHT	65536	/* …because it has so many bytes */

/* What the driver has takes long to send: nothing can overtake it there. txlat has the time. */
static void judge_huge(const struct snapshot *s, struct findings *f, unsigned queue)
{
	double bytes = hist_percentile(&metrics[IN_FLIGHT], words(s, queue, IN_FLIGHT), .5);
	const struct table *t = &s->tables[METER_txlat];
	const struct metric *k = meter_txlat.metrics;
	double took;

	if (!t->cells || isnan(bytes) || bytes < MUCH_IN_FLIGHT)
		return;
	took = hist_percentile(k, cell(t, queue, 0, k), .5);
	/* moderation takes at least half of it: that is not the limit's fault, and txlat says so */
	if (isnan(took) || took < LONG_QUEUE || s->meta.tx_usecs * 2e-6 >= took ||
	    !finding_about(f, ABOUT_TX_SLOW, "bql"))
		return;
	finding(f, "bql", text("echo %.0f > %s", bytes * 1e-3 / took,
			       limit_file(s, queue, "limit_max")),
		"the byte limit of queue %u is huge: the driver has %.0f kB, which take %s to "
		"send and cannot be overtaken", queue, bytes / 1000, finding_time(took));
}

static const char *times(uint64_t n)
{
	return n == 1 ? "once" : text("%" PRIu64 " times", n);
}

static void judge_stalls(const struct snapshot *s, struct findings *f, unsigned queue)
{
	uint64_t stalls = *words(s, queue, STALLS);

	if (stalls)
		finding(f, "bql", text("the longest: cat %s; does its interrupt come late? "
				       "ethtool -c %s", limit_file(s, queue, "stall_max"),
				       s->meta.iface),
			"completions of queue %u stalled %s for longer than its stall_thrs", queue,
			times(stalls));
}

/* Stopped for a hundredth of the time, and not in the blink of an eye. */
static void judge_driver(const struct snapshot *s, struct findings *f, unsigned queue)
{
	const uint64_t *w = words(s, queue, BY_DRIVER);
	double stood = w[0] * 1e-9;
	const char *try = text("does the other end keep up? ip -s link show dev %s; a longer TX "
			       "ring: ethtool -G %s tx N", s->meta.iface, s->meta.iface);

	if (stood < 10e-3 || stood * 100 < s->seconds ||
	    !finding_about(f, ABOUT_TX_FULL, "bql"))
		return;
	finding(f, "bql", try,
		"the driver stopped queue %u for %s in all while packets waited, %s: its ring "
		"was full", queue, finding_time(stood), times(hist_count(&metrics[BY_DRIVER], w)));
}

static void judge(const struct snapshot *s, struct findings *f)
{
	const struct table *t = &s->tables[METER_bql];

	for (unsigned row = 0; row + 1 < t->rows; row++) {	/* the last: queue unknown */
		if (cell_idle(t, row, 0))
			continue;
		judge_small(s, f, row);
		judge_huge(s, f, row);
		judge_stalls(s, f, row);
		judge_driver(s, f, row);
	}
}

const struct meter meter_bql = {
	.name = "bql",
	.help = "byte queue limits, and how long a TX queue stood stopped",
	.by = BY_QUEUE,
	.point = TX_NIC,
	.row_size = sizeof(struct bql),
	.metrics = metrics,
	.elf = bql_bpf__elf_bytes,
	.judge = judge,
};
