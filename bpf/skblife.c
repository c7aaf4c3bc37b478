/* SPDX-License-Identifier: GPL-2.0 */
/* How the lives of packets are shown, and where most of the time goes. */
#include <inttypes.h>
#include <stdio.h>

#include "../lib/log.h"
#include "../lib/snapshot.h"
#include "skblife.h"
#include "skblife.skel.h"

static const char *const ends[NR_LIFE_ENDS] = {
	[LIFE_READ] = "read",
	[LIFE_USED] = "used",
	[LIFE_FORWARDED] = "forwarded",
	[LIFE_SENT] = "sent",
	[LIFE_DROPPED] = "dropped",
};

static const char *const losses[NR_LIFE_LOST] = {
	[LIFE_MERGED] = "merged",
	[LIFE_COALESCED] = "coalesced",
	[LIFE_SEGMENTED] = "segmented",
	[LIFE_UNSEEN] = "unseen",
	[LIFE_FULL] = "table-full",
};

static const char *const stages[NR_LIFE_STAGES] = {
	[LIFE_WHOLE] = "whole",
	[LIFE_GRO] = "gro",
	[LIFE_STACK] = "stack",
	[LIFE_SOCKET] = "socket",
	[LIFE_QDISC] = "qdisc",
	[LIFE_DRIVER] = "driver",
};

static const struct metric metrics[] = {
	HISTOGRAM(struct skblife, time, .name = "time", .unit = "seconds", .scale = 1e-9,
		  .help = "Time in this stage, of packets whose life was seen to its end."),
	LEVEL(struct skblife, came, .name = "now", .unit = "packets",
	      .help = "Packets followed that are there now."),
	COUNTER(struct skblife, ended, .name = "ended", .unit = "packets",
		.label = "how", .labels = ends,
		.help = "Packets followed whose life ended there, by how."),
	COUNTER(struct skblife, lost, .name = "lost", .unit = "packets",
		.label = "cause", .labels = losses,
		.help = "Packets of which the track was lost there, by cause."),
	{}
};

static void key_text(const void *key, unsigned nr, char *to, size_t size)
{
	const struct skblife_key *k = key;
	unsigned queue = k->queue[0] << 8 | k->queue[1];

	if (nr == 0)
		snprintf(to, size, "%s", k->sent ? "tx" : "rx");
	else if (nr == 2)
		snprintf(to, size, "%s", k->stage < NR_LIFE_STAGES ? stages[k->stage] : "?");
	else if (queue == 0xffff)
		snprintf(to, size, "unknown");
	else
		snprintf(to, size, "%u", queue);
}

/* One direction, all queues. */
struct lives {
	uint64_t count, full;
	double whole, stage[NR_LIFE_STAGES];	/* seconds, together */
};

static void lives_sum(const struct snapshot *s, bool sent, struct lives *l)
{
	const struct table *t = &s->tables[METER_skblife];

	*l = (struct lives){};
	for (unsigned row = 0; row < t->rows; row++) {
		const struct skblife_key *k = (void *)(t->keys + row * sizeof(*k));
		const uint64_t *time = cell(t, row, 0, &metrics[0]);

		if (!!k->sent != sent || k->stage >= NR_LIFE_STAGES)
			continue;
		l->stage[k->stage] += time[0] * 1e-9;
		if (k->stage != LIFE_WHOLE)
			continue;
		l->count += hist_count(&metrics[0], time);
		l->full += cell(t, row, 0, &metrics[3])[LIFE_FULL];
	}
	l->whole = l->stage[LIFE_WHOLE];
}

#define ENOUGH		100	/* lives; fewer say nothing */
#define LONG		.001	/* seconds in one stage, on average: less is no matter */
#define MOST		.5	/* of the whole life */

static enum about about(enum skblife_stage stage)
{
	return stage == LIFE_SOCKET ? ABOUT_READER :
	       stage == LIFE_QDISC ? ABOUT_QDISC_WAIT : ABOUT_TX_SLOW;
}

/* What to look at where packets wait in a stage; NULL: nothing that we know. */
static const char *remedy(const struct snapshot *s, enum skblife_stage stage)
{
	const char *iface = s->meta.iface;

	switch (stage) {
	case LIFE_SOCKET:
		return "ss -tunap | sort -nrk3: who has most in Recv-Q reads too late; has it "
		       "enough CPU? pidstat -uw -p PID 1";
	case LIFE_QDISC:
		return text("tc -s qdisc show dev %s: it limits the rate, or the link is full; a "
			    "shorter queue: tc qdisc replace dev %s root fq_codel", iface, iface);
	case LIFE_DRIVER:
		return text("a card: a shorter TX ring (ethtool -G %s tx N), or TX interrupts that "
			    "wait less (ethtool -C %s tx-usecs N); a tap: the program behind it "
			    "reads late", iface, iface);
	default:
		return NULL;
	}
}

static void judge_way(const struct snapshot *s, struct findings *f, bool sent)
{
	struct lives l;
	int worst = LIFE_GRO;

	lives_sum(s, sent, &l);
	if (l.full)
		finding(f, "skblife", text("nicprobe attach %s -m skblife --sample %u", s->name,
					   16 * meter_sample(&meter_skblife, &s->meta)),
			"%" PRIu64 " packets were not followed: more were in this host than there "
			"is room for", l.full);
	for (int i = LIFE_GRO; i < NR_LIFE_STAGES; i++)
		if (l.stage[i] > l.stage[worst])
			worst = i;
	if (!remedy(s, worst) || l.count < ENOUGH || l.stage[worst] < MOST * l.whole ||
	    l.stage[worst] < LONG * l.count || !finding_about(f, about(worst), "skblife"))
		return;
	finding(f, "skblife", remedy(s, worst),
		"where the time goes: %.0f%% of the %.1f ms that a %s packet takes is in the %s",
		100 * l.stage[worst] / l.whole, 1e3 * l.whole / l.count,
		sent ? "sent" : "received",
		worst == LIFE_SOCKET ? "socket queue" : stages[worst]);
}

static void judge(const struct snapshot *s, struct findings *f)
{
	judge_way(s, f, false);
	judge_way(s, f, true);
}

const struct meter meter_skblife = {
	.name = "skblife",
	.help = "how long a packet is in this host, and where",
	.by = BY_KEY,
	.row_size = sizeof(struct skblife),
	.metrics = metrics,
	.key_size = sizeof(struct skblife_key),
	.key_labels = (const char *const []){ "way", "queue", "stage", NULL },
	.key_text = key_text,
	.by_key = true,
	.elf = skblife_bpf__elf_bytes,
	.sample = 64,
	.on_request = "it listens wherever a packet of any interface comes by, is read or freed: "
		      "0.1 us a packet that is sent, as much if received",
	.judge = judge,
};
