/* SPDX-License-Identifier: GPL-2.0 */
/* What napi says of figures made up for it, on a NIC with rings and queues; how windows end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/snapshot.h"
#include "../../bpf/napi.h"

#define SUBJECT "napi "
#include "check.h"

#define QUEUES 4

static struct snapshot *snapshot(unsigned in_use, unsigned ring, unsigned most)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	struct table *t = &s->tables[METER_napi];

	s->meta = (struct meta){
		.rx_queues = in_use, .tx_queues = in_use, .rows = QUEUES + 1,
		.rx_ring = ring, .max_rx_ring = most, .iface = "eth0", .driver = "ena",
	};
	s->online = 8;
	s->wanted = 1ull << METER_napi;
	*t = (struct table){ .rows = QUEUES + 1, .cpus = 1, .words = sizeof(struct napi) / 8 };
	t->cells = calloc(t->rows, sizeof(struct napi));
	return s;
}

static struct napi *row(struct snapshot *s, unsigned queue)
{
	return (struct napi *)s->tables[METER_napi].cells + queue;
}

/* Judges and frees it: `what` and `try` stand in a finding; NULL: it says nothing at all. */
static void says(const char *name, struct snapshot *s, const char *what, const char *try)
{
	const struct findings *f = &s->findings;
	bool found;

	snapshot_judge(s);
	found = !what && !f->nr;
	for (unsigned i = 0; what && i < f->nr; i++)
		found |= strstr(f->list[i].what, what) && strstr(f->list[i].try, try);
	check(found, name, f->nr ? f->list[0].what : "it says nothing");
	if (!found && f->nr)
		printf("# try: %s\n", f->list[0].try);
	snapshot_free(s);
	free(s);
}

static void test_judge(void)
{
	struct snapshot *s = snapshot(4, 512, 4096);

	row(s, 2)->polls[NAPI_SOFTIRQ] = 100;
	row(s, 2)->exhausted = 40;
	says("exhausted, all queues in use", s,
	     "queue 2 used up its budget in 40 of 100 polls (40%)",
	     "ethtool -X eth0 equal 4; or let");
	s = snapshot(2, 512, 4096);
	row(s, 1)->polls[NAPI_THREAD] = 100;
	row(s, 1)->exhausted = 10;
	says("exhausted, more queues to be had", s, "(10%)", "ethtool -L eth0 combined 4");
	s = snapshot(4, 512, 4096);
	row(s, 1)->polls[NAPI_SOFTIRQ] = 101;
	row(s, 1)->exhausted = 10;
	says("seldom exhausted", s, NULL, NULL);

	s = snapshot(4, 512, 4096);
	row(s, 0)->near = 3;
	says("near the ring", s,
	     "queue 0 was not emptied for 384 packets in a row or more, 3 times",
	     "ethtool -G eth0 rx 1024");
	s = snapshot(4, 512, 800);
	row(s, 0)->near = 1;
	says("near the ring, no twice of it", s, "its ring holds 512", "ethtool -G eth0 rx 800");
	s = snapshot(4, 512, 512);
	row(s, 0)->near = 1;
	says("near the longest ring", s, "1 time;", "ethtool -X eth0 equal 4");

	s = snapshot(4, 512, 512);
	row(s, 0)->polls[NAPI_SOFTIRQ] = 700;
	row(s, 1)->polls[NAPI_KSOFTIRQD] = 300;
	says("ksoftirqd", s, "ksoftirqd made 30% of the polls", "/sys/class/net/eth0/threaded");
	s = snapshot(4, 512, 512);
	row(s, 0)->polls[NAPI_SOFTIRQ] = 800;
	row(s, 1)->polls[NAPI_KSOFTIRQD] = 200;
	row(s, 1)->squeezed = 9;
	says("little of it, and few squeezes", s, NULL, NULL);
	s = snapshot(4, 512, 512);
	row(s, 0)->polls[NAPI_SOFTIRQ] = 1000;
	row(s, 0)->squeezed = 10;
	says("squeezed", s, "10 softirqs ended with packets left", "net.core.netdev_budget_usecs=");
}

/* Only a window that is over for sure is counted, and nothing of the CPU's state is left. */
static void test_close(void)
{
	static struct napi n;
	const uint64_t now = 5000 * NAPI_WINDOW;

	n.window = (struct napi_window){ .nr = 4998, .packets = 64 };
	n.window_long = (struct napi_window){ .nr = 499, .packets = 64 };
	n.raised = n.running = 7;
	meter_napi.row_close((uint64_t *)&n, now);
	check(n.burst.sum == 64 && !n.burst_long.sum, "windows end",
	      text("%llu, %llu", n.burst.sum, n.burst_long.sum));
	check(n.burst.slot[20] == 1, "the slot of a window", "it is not that of 64");
	check(!n.raised && !n.running && !n.window.packets && !n.window_long.packets &&
	      !n.window.nr && !n.window_long.nr, "state is left out", "some is left");
}

int main(void)
{
	test_judge();
	test_close();
	return failed > 0;
}
