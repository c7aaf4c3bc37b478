/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about slow completions, on made-up cards; and silence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/drop/drop.h"
#include "lib/kernel/reasons.h"
#include "bpf/txlat/txlat.h"
#include "lib/read/thinned.h"

#define SUBJECT "txlat "
#include "judge.h"

#define QUEUES 4

static struct hw *setup_of_card;

static struct snapshot *card(const char *driver, unsigned usecs, unsigned frames, bool adaptive)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	struct table *t = &s->tables[METER_txlat];

	s->meta = (struct meta){
		.tx_queues = QUEUES, .rows = QUEUES + 1, .sample = 1, .iface = "eth0",
	};
	setup_of_card = setup_unknown();
	*set(&group_coalesce, &setup_of_card->coalesce, "tx-usecs") = usecs;
	*set(&group_coalesce, &setup_of_card->coalesce, "tx-frames") = frames;
	*set(&group_coalesce, &setup_of_card->coalesce, "adaptive-tx") = adaptive;
	strcpy(setup_of_card->card.subsystem, "pci");
	snprintf(s->meta.driver, sizeof(s->meta.driver), "%s", driver);
	snprintf(s->name, sizeof(s->name), "eth0");
	s->seconds = 10;
	*t = (struct table){ .rows = QUEUES + 1, .cpus = 1, .words = sizeof(struct txlat) / 8 };
	t->cells = calloc(t->rows, sizeof(struct txlat));
	return s;
}

/* `n` completions of a queue that took 2^power ns, or an eighth more. */
static void completed(struct snapshot *s, unsigned queue, unsigned power, uint64_t n)
{
	struct txlat *row = (struct txlat *)s->tables[METER_txlat].cells + queue;

	row->completion.sum += n << power;
	row->completion.slot[1 + (power - LOGLIN_MIN) * LOGLIN_STEPS] += n;
}

/* Evaluates and frees it; NULL: no finding. */
static void says(const char *name, struct snapshot *s, const char *id, const char *what,
		 const char *try)
{
	finds(s, setup_of_card, name, id, what, try);
	snapshot_free(s);
	free(s);
}

#define SLOW "tx-completion-slow"

static void test_held(void)
{
	struct snapshot *s = card("igb", 500, 0, false);

	completed(s, 1, 18, 1000);	/* 262 us */
	completed(s, 2, 18, 99);	/* too few */
	says("held back by moderation", s, SLOW,
	     "completions of queue 1 take 279 us (median): the card delays them by 500 us "
	     "(tx-usecs)", "ethtool -C eth0 tx-usecs 50");
	s = card("igb", 1000, 0, true);
	for (unsigned q = 0; q < 3; q++)
		completed(s, q, 18 + (q == 2), 1000);
	says("held back, adaptive, three queues", s, SLOW, "queue 2 take 557 us",
	     "ethtool -C eth0 adaptive-tx off tx-usecs 50");
	s = card("igb", 64, 0, false);
	completed(s, 0, 16, 1000);	/* 66 us */
	says("moderation that does no harm", s, NULL, NULL, NULL);
	s = card("igb", 0, 64, false);
	completed(s, 0, 19, 1000);
	says("held back for a number of packets", s, SLOW, "by 64 packets (tx-frames)",
	     "ethtool -C eth0 tx-frames 16");
}

static void test_late(void)
{
	struct snapshot *s = card("igb", 64, 0, false);

	completed(s, 3, 24, 1000);	/* 17 ms */
	completed(s, 0, 19, 1000);	/* 0.5 ms: slower, but below the threshold */
	says("later than moderation", s, SLOW,
	     "queue 3 take 17.8 ms (median)",
	     "nicprobe show eth0 irq");
	s = card("igb", 64, 0, false);
	completed(s, 0, 19, 1000);
	says("a little late", s, NULL, NULL, NULL);
	s = card("igb", 0, 0, false);
	completed(s, QUEUES, 24, 1000);
	says("of no known queue", s, NULL, NULL, NULL);
	s = card("igb", 0, 0, false);
	completed(s, 0, 24, 1000);
	says("late, moderation not known", s, SLOW, "take 17.8 ms (median)",
	     "ethtool -G eth0 tx");
	s = card("tun", 0, 0, false);
	completed(s, 0, 24, 1000);
	says("a tap that is read late", s, SLOW, "take 17.8 ms (median)",
	     "the program behind it reads late");
	s = card("virtio_net", 0, 0, false);
	completed(s, 0, 24, 1000);
	says("a host that is slow", s, SLOW, "take 17.8 ms", "vhost");
	s = card("igb", 0, 0, false);
	completed(s, 0, 14, 1000);
	says("completed at once", s, NULL, NULL, NULL);
}

/* Dropped by the driver for lack of room: the suggestion enlarges the ring of a card or a tap. */
static void test_full(void)
{
	for (int tap = 0; tap < 2; tap++) {
		struct snapshot *s = card(tap ? "tun" : "igb", 0, 0, false);
		struct txlat *row = (struct txlat *)s->tables[METER_txlat].cells;

		if (tap) {
			*setup_of_card->card.subsystem = '\0';
			setup_of_card->iface.tx_ring = 500;
		} else {
			*set(&group_rings, &setup_of_card->rings, "tx") = 256;
			*set(&group_rings, &setup_of_card->rings, "tx-max") = 4096;
		}
		completed(s, 0, 14, 9900);
		row->lost[TXLAT_FREED_IN_XMIT] = 100;
		says(tap ? "a full tap" : "a full ring", s, "tx-ring-full",
		     "100 packets (1.0%) found the transmit ring of eth0 full",
		     tap ? "ip link set dev eth0 txqueuelen 2000" : "ethtool -G eth0 tx 1024");
	}
	{
		struct snapshot *s = card("igb", 0, 0, false);
		struct txlat *row = (struct txlat *)s->tables[METER_txlat].cells;

		row->came = 1000;
		row->lost[TXLAT_FREED_IN_XMIT] = 4000;
		says("a share of all, of those in flight, too", s, "tx-ring-full",
		     "4000 packets (80.0%) found the transmit ring of eth0 full",
		     "a longer ring would only delay the loss");
	}
	for (int waits = 0; waits < 2; waits++) {
		struct snapshot *s = card("igb", 0, 0, false);
		struct txlat *row = (struct txlat *)s->tables[METER_txlat].cells;

		s->interval = true;
		row->came = 40;
		row->lost[TXLAT_FREED_IN_XMIT] = waits ? 1000 : 0;
		judge_all(s, setup_of_card);
		check(waits ? !strcmp(s->findings.list->kind->id, "tx-queue-stuck") &&
		      findings_count(&s->findings, 0) == 1 : !s->findings.nr,
		      waits ? "a stuck queue" : "in flight, and nothing waits",
		      text("%u: %s", s->findings.nr, s->findings.list->what));
		snapshot_free(s);
		free(s);
	}
}

/* One packet in 100 was followed; without `drop` nothing else tells how many found no room. */
static void test_thinned(bool drop)
{
	struct snapshot *s = card("igb", 0, 0, false);
	struct txlat *row = (struct txlat *)s->tables[METER_txlat].cells;
	struct drop_key key = { .reason = 0xfff7fffe, .stack = -1, .direction = DROP_TX };

	s->meta.sample = 0;
	s->meta.adapts = true;
	s->meta.cpus = 1;
	s->thinned = calloc(NR_METERS, sizeof(*s->thinned));
	s->thinned[METER_txlat] = (struct thinned){ .taken = 1000, .passed = 99000 };
	completed(s, 0, 14, 800);
	row->lost[TXLAT_FREED_IN_XMIT] = 200;
	if (drop) {
		drop_reason_know(key.reason, "FULL_RING");
		s->tables[METER_drop].cpus = 1;
		s->tables[METER_drop].words = meter_drop.row_size / 8;
		*table_add(&s->tables[METER_drop], &meter_drop, &key) = 21000;
	}
	says(drop ? "followed in part: drops are of all packets" : "followed in part: it says so",
	     s, "tx-ring-full", drop ? "21000 packets (21.0%) found the transmit ring" :
	     "200 followed packets (20.0%) found the transmit ring", "a longer ring would only");
}

int main(void)
{
	test_held();
	test_late();
	test_full();
	test_thinned(false);
	test_thinned(true);
	return failed > 0;
}
