/* SPDX-License-Identifier: GPL-2.0 */
/* What txlat says of completions that take long, on cards made up; and when nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/snapshot.h"
#include "../../bpf/txlat.h"

#define SUBJECT "txlat "
#include "check.h"

#define QUEUES 4

static struct snapshot *card(const char *driver, unsigned usecs, unsigned frames, bool adaptive)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	struct table *t = &s->tables[METER_txlat];

	s->meta = (struct meta){
		.tx_queues = QUEUES, .rows = QUEUES + 1, .sample = 1, .max_rx_ring = 4096,
		.tx_usecs = usecs, .tx_frames = frames, .tx_adaptive = adaptive, .iface = "eth0",
	};
	snprintf(s->meta.driver, sizeof(s->meta.driver), "%s", driver);
	snprintf(s->name, sizeof(s->name), "eth0");
	s->seconds = 10;
	s->wanted = 1ull << METER_txlat;
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

/* Judges and frees it: it says `what` and to try `try` and no more; NULL: nothing at all. */
static void says(const char *name, struct snapshot *s, const char *what, const char *try)
{
	const struct findings *f = &s->findings;
	const struct finding *one = f->list;
	bool good;

	snapshot_judge(s);
	good = what ? f->nr == 1 && strstr(one->what, what) && strstr(one->try, try) : !f->nr;
	good &= strlen(one->what) < sizeof(one->what) - 1 &&
		strlen(one->try) < sizeof(one->try) - 1;
	check(good, name, text("%u: %s (%s)", f->nr, one->what, one->try));
	snapshot_free(s);
	free(s);
}

static void test_held(void)
{
	struct snapshot *s = card("igb", 500, 0, false);

	completed(s, 1, 18, 1000);	/* 262 us */
	completed(s, 2, 18, 99);	/* too few */
	says("held back by moderation", s,
	     "completions of queue 1 take 279 us (median): the card holds them back for 500 us "
	     "(tx-usecs)", "ethtool -C eth0 tx-usecs 50");
	s = card("igb", 1000, 0, true);
	for (unsigned q = 0; q < 3; q++)
		completed(s, q, 18 + (q == 2), 1000);
	says("held back, adaptive, three queues", s, "queue 2 and of 2 more take 557 us",
	     "ethtool -C eth0 adaptive-tx off tx-usecs 50");
	s = card("igb", 64, 0, false);
	completed(s, 0, 16, 1000);	/* 66 us */
	says("moderation that does no harm", s, NULL, NULL);
	s = card("igb", 0, 64, false);
	completed(s, 0, 19, 1000);
	says("held back for a number of packets", s, "for 64 packets (tx-frames)",
	     "ethtool -C eth0 tx-frames 16");
}

static void test_late(void)
{
	struct snapshot *s = card("igb", 64, 0, false);

	completed(s, 3, 24, 1000);	/* 17 ms */
	completed(s, 0, 19, 1000);	/* 0.5 ms: late, but no matter */
	says("later than moderation", s,
	     "queue 3 take 17.8 ms (median), far more than its moderation of 64 us (tx-usecs)",
	     "nicprobe show eth0 irq");
	s = card("igb", 64, 0, false);
	completed(s, 0, 19, 1000);
	says("a little late", s, NULL, NULL);
	s = card("igb", 0, 0, false);
	completed(s, QUEUES, 24, 1000);
	says("of no known queue", s, NULL, NULL);
	s = card("igb", 0, 0, false);
	completed(s, 0, 24, 1000);
	says("late, moderation not known", s, "take 17.8 ms (median); until then",
	     "ethtool -G eth0 tx");
	s = card("tun", 0, 0, false);
	completed(s, 0, 24, 1000);
	says("a tap that is read late", s, "take 17.8 ms (median); until then",
	     "the program behind it reads late");
	s = card("virtio_net", 0, 0, false);
	completed(s, 0, 24, 1000);
	says("a host that is slow", s, "take 17.8 ms", "vhost");
	s = card("igb", 0, 0, false);
	completed(s, 0, 14, 1000);
	says("completed at once", s, NULL, NULL);
}

/* Dropped by the driver for want of room: the ring to make longer is that of a card, or a tap's. */
static void test_full(void)
{
	for (int tap = 0; tap < 2; tap++) {
		struct snapshot *s = card(tap ? "tun" : "igb", 0, 0, false);
		struct txlat *row = (struct txlat *)s->tables[METER_txlat].cells;

		s->meta.max_rx_ring = tap ? 0 : 4096;
		completed(s, 0, 14, 900);
		row->lost[TXLAT_FREED_IN_XMIT] = 100;
		says(tap ? "a full tap" : "a full ring", s,
		     "the driver freed 100 packets before it sent them, 10.0% of all",
		     tap ? "ip link set dev eth0 txqueuelen N" : "ethtool -G eth0 tx N");
	}
}

int main(void)
{
	test_held();
	test_late();
	test_full();
	return failed > 0;
}
