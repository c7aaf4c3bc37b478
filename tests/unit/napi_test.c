/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Findings of the meter napi for made-up figures, on a NIC with rings and queues; and closing
 * windows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/napi/napi.h"

#define SUBJECT "napi "
#include "judge.h"

#define QUEUES 4

static struct snapshot *snapshot(unsigned in_use, unsigned ring)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	struct table *t = &s->tables[METER_napi];

	s->meta = (struct meta){
		.rx_queues = in_use, .tx_queues = in_use, .rows = QUEUES + 1,
		.rx_ring = ring, .iface = "eth0", .driver = "ena",
	};
	s->online = 8;
	*t = (struct table){ .rows = QUEUES + 1, .cpus = 1, .words = sizeof(struct napi) / 8 };
	t->cells = calloc(t->rows, sizeof(struct napi));
	return s;
}

static struct napi *row(struct snapshot *s, unsigned queue)
{
	return (struct napi *)s->tables[METER_napi].cells + queue;
}

/* Evaluates and frees it; `ring` is the card's maximum; NULL: no finding. */
static void says(const char *name, struct snapshot *s, unsigned ring, const char *id,
		 const char *what, const char *try)
{
	struct hw *h = setup_unknown();

	*set(&group_rings, &h->rings, "rx") = s->meta.rx_ring;
	*set(&group_rings, &h->rings, "rx-max") = ring;
	finds(s, h, name, id, what, try);
	snapshot_free(s);
	free(s);
}

/* `n` polls of a queue that waited 2^power ns. */
static void waited(struct snapshot *s, unsigned queue, unsigned power, uint64_t n)
{
	row(s, queue)->wait.sum += n << power;
	row(s, queue)->wait.slot[1 + (power - LOGLIN_MIN) * LOGLIN_STEPS] += n;
}

static void test_judge(void)
{
	struct snapshot *s = snapshot(4, 512);

	row(s, 2)->polls[NAPI_SOFTIRQ] = 100;
	row(s, 2)->exhausted = 90;
	says("full polls alone do no harm", s, 4096, NULL, NULL, NULL);
	s = snapshot(4, 512);
	row(s, 0)->near = 30;
	says("near the ring", s, 4096, "rx-ring-near", "30 bursts filled at least three quarters "
	     "of the ring of receive queue 0, which holds 512", "ethtool -G eth0 rx 2048");
	s = snapshot(4, 512);
	row(s, 0)->near = row(s, 3)->near = 10;
	says("near the ring, not four times of it", s, 800, "rx-ring-near", NULL,
	     "ethtool -G eth0 rx 800");
	s = snapshot(4, 512);
	row(s, 0)->near = 10;
	says("near the longest ring, which nothing mends", s, 512, NULL, NULL, NULL);
	s = snapshot(4, 512);
	row(s, 0)->near = 9;
	says("seldom near", s, 4096, NULL, NULL, NULL);

	s = snapshot(4, 512);
	row(s, 0)->polls[NAPI_SOFTIRQ] = 1000;
	row(s, 0)->squeezed = 1000;
	says("squeezed, with the default budget", s, 512, NULL, NULL, NULL);
	s = snapshot(4, 512);
	waited(s, 1, 24, 100);
	waited(s, 2, 10, 100000);
	says("late", s, 512, "napi-poll-late", "polls of queue 1 begin 17.8 ms (median) after",
	     "echo 1 > /sys/class/net/eth0/threaded");
	s = snapshot(4, 512);
	waited(s, 1, 24, 9);
	waited(s, 2, 22, 1000);
	says("now and then late", s, 512, NULL, NULL, NULL);
}

/* Only windows that are certainly over are counted, and no per-CPU state is left. */
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
