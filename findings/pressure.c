/* SPDX-License-Identifier: GPL-2.0 */
/* Whether receiving is at its limit: packets lost for lack of CPU time or room, full CPUs. */
#include "bpf/napi/napi.h"
#include "findings/pressure.h"
#include "lib/core/nic_driver.h"

#define FEW	10	/* packets: fewer losses are ignored */
#define POLLS	100	/* fewer polls prove nothing */
#define RATE	1000	/* packets per second: a CPU filled by receiving gets more */

/*
 * For drivers whose rx_dropped counts packets without a buffer. The kernel adds what it dropped
 * itself before any protocol (__netif_receive_skb_core() and enqueue_to_backlog() call
 * dev_core_stats_rx_dropped_inc(), 6.1 and 6.12), so subtract what `drop` knows of these.
 */
static uint64_t card_dropped(const struct evidence *e)
{
	int queue;
	uint64_t n, stack;

	if (!driver_find(e->s->meta.driver)->drops_are_the_card || !has(e, METER_drop))
		return 0;
	n = card_counted(e, "rx_drops", &queue) ?: kernel_counted(e, "ip -s link", "rx_dropped");
	stack = dropped_for(e, "UNHANDLED_PROTO") + dropped_for(e, "CPU_BACKLOG");
	return n > stack ? n - stack : 0;
}

/* Several sources may count the same loss: use the largest. */
uint64_t ring_losses(const struct evidence *e, int *queue)
{
	static const char *const card[] = { "rx_missed", "rx_no_buffer" };
	static const char *const link[] = { "rx_missed_errors", "rx_fifo_errors",
					   "rx_over_errors" };
	static const char *const like[] = { "no_buf", "nobuf", "out_of_buf", "missed",
					    "queue_drop", NULL };
	uint64_t most = card_dropped(e), own;
	int at;

	*queue = -1;
	for (unsigned i = 0; i < sizeof(card) / sizeof(*card); i++) {
		uint64_t n = card_counted(e, card[i], &at);

		if (n > most) {
			most = n;
			*queue = at;
		}
	}
	for (unsigned i = 0; i < sizeof(link) / sizeof(*link); i++) {
		uint64_t n = kernel_counted(e, "ip -s link", link[i]);

		most = n > most ? n : most;
	}
	own = counted_like(e, "ethtool -S", like);
	return own > most ? own : most;
}

uint64_t backlog_losses(const struct evidence *e)
{
	uint64_t n = 0;

	if (has(e, METER_drop))
		return dropped_for(e, "CPU_BACKLOG");
	for (unsigned cpu = 0; cpu < e->s->meta.cpus && has(e, METER_counters); cpu++) {
		char name[32];

		snprintf(name, sizeof(name), "cpu%u dropped", cpu);
		n += kernel_counted(e, "softnet", name);
	}
	return n;
}

/* If the window has no CPU load: do most polls of the queue use up their budget? */
static bool polls_are_full(const struct evidence *e, int queue)
{
	const struct table *t = &e->s->tables[METER_napi];
	const struct napi *n;
	uint64_t polls;

	if (!has(e, METER_napi) || queue < 0 || (unsigned)queue >= t->rows)
		return false;
	n = (const void *)row_words(t, queue, 0);
	polls = n->polls[NAPI_SOFTIRQ] + n->polls[NAPI_KSOFTIRQD] + n->polls[NAPI_THREAD];
	return polls >= POLLS && n->exhausted * 2 >= polls;
}

/*
 * The full CPU: the one that polls the busiest queue, else the one that spends most on receiving.
 */
static int full_cpu(const struct evidence *e, int queue)
{
	int cpu = queue < 0 ? -1 : cpu_of_queue(e, queue), worst = -1;

	if (cpu_is_full(e, cpu))
		return cpu;
	for (unsigned c = 0; c < e->s->load.nr; c++)
		if (cpu_is_full(e, c) &&
		    (worst < 0 || time_receiving(e, c) > time_receiving(e, worst)))
			worst = c;
	return worst;
}

struct pressure pressure_of(const struct evidence *e)
{
	struct pressure p = { .queue = busiest_queue(e) };
	uint64_t all = received(e, -1, -1);
	bool busy;
	int at;

	for (unsigned queue = 0; queue < e->s->meta.rx_queues; queue++)
		p.queues += all && received(e, queue, -1) * 100 >= all;
	p.card = ring_losses(e, &at);
	p.backlog = backlog_losses(e);
	p.cpu = rate(e, all) >= RATE ? full_cpu(e, p.queue) : -1;
	busy = p.cpu >= 0 || (!e->s->load.nr && polls_are_full(e, p.queue));
	p.lost = p.card + p.backlog;
	if (!worth(e, p.lost, FEW))
		p.lost = 0;
	/* A full backlog means a slow CPU; a full ring may just be short. */
	p.pressed = busy || worth(e, p.backlog, FEW);
	return p;
}
