/* SPDX-License-Identifier: GPL-2.0 */
/* Findings of the meter irq, on made-up tables: reported exactly where they should be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/irq/irq.h"
#include "lib/net/queues.h"

#define SUBJECT "irq "
#include "judge.h"

static char proc[64] = "/tmp/irq_test.XXXXXX";

/* One row: the queue it serves, its CPU, and its counts. */
struct row {
	int queue;
	unsigned cpu;
	uint64_t interrupts, polls, packets, elsewhere;
};
static unsigned polls_each = 1;	/* per interrupt */
static bool adaptive;		/* adaptive moderation */
static unsigned idle = 10;	/* percent of each CPU's time */

static void row_put(struct table *t, const struct row *r)
{
	struct irq_key key = {
		.irq = 30 + r->queue, .cpu = r->cpu, .rx = r->queue, .tx = r->queue
	};
	struct irq *words;

	if (r->queue < 0)
		snprintf(key.name, sizeof(key.name), "eth9");
	else
		snprintf(key.name, sizeof(key.name), "eth9-TxRx-%d", r->queue);
	words = (void *)table_add(t, &meter_irq, &key);
	words->interrupts = r->interrupts;
	words->polls = r->polls;
	words->packets = r->packets;
	words->elsewhere = r->elsewhere;
	words->to_poll.slot[0] = r->polls / polls_each;
}

/* The finding for these rows; `id` NULL: none. */
static void judged(const char *name, const struct row *rows, bool interval, const char *id,
		   const char *what, const char *try)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	struct table *t = &s->tables[METER_irq];
	struct hw *h = setup_unknown();

	t->cpus = 1;
	t->words = meter_irq.row_size / 8;
	for (; rows->interrupts || rows->polls; rows++)
		row_put(t, rows);
	snprintf(s->meta.iface, sizeof(s->meta.iface), "eth9");
	*set(&group_coalesce, &h->coalesce, "adaptive-rx") = adaptive;
	*set(&group_coalesce, &h->coalesce, "adaptive-tx") = adaptive;
	*set(&group_coalesce, &h->coalesce, "rx-usecs") = 0;
	s->seconds = 2;
	s->online = 4;
	s->load = (struct cpu_load){ .nr = 4, .ticks = calloc(4, sizeof(*s->load.ticks)) };
	for (unsigned cpu = 0; cpu < 4; cpu++) {
		s->load.ticks[cpu][SPENT_IDLE] = 2 * idle;
		s->load.ticks[cpu][SPENT_USER] = 2 * (100 - idle);
	}
	s->interval = interval;
	finds(s, h, text("judge %s", name), id, what, try);
	free(t->cells);
	free(t->keys);
	load_free(&s->load);
	free(s);
}

static void judge_far(void)
{
	judged("polls elsewhere", (struct row []){
		{ 0, 1, 8000, 100, 900, 0 }, { 0, 2, 0, 7900, 64000, 7900 }, {} }, false,
			"irq-far-from-poll",
		"99% of the polls of eth9-TxRx-0 ran on another CPU than its interrupt, "
		"which ran on CPU 1",
		"taskset -pc 1 PID");
	judged("polls where interrupts are", (struct row []){
		{ 0, 1, 8000, 8000, 64000, 0 }, {} }, false, NULL, NULL, NULL);
	judged("polls elsewhere of many", (struct row []){
		{ 0, 0, 800, 0, 0, 0 }, { 0, 3, 0, 800, 6400, 750 },
		{ 1, 1, 700, 0, 0, 0 }, { 1, 3, 0, 700, 5600, 600 },
		{ 2, 2, 900, 0, 0, 0 }, { 2, 3, 0, 900, 7200, 900 }, {} }, false,
		"irq-far-from-poll",
		"100% of the polls of eth9-TxRx-2 ran on another CPU than its interrupt, "
		"which ran on CPU 2", "taskset -pc 2 PID");
	polls_each = 10;
	judged("polls elsewhere, many for each interrupt", (struct row []){
		{ 0, 1, 8000, 0, 0, 0 }, { 0, 2, 0, 80000, 5000000, 8000 }, {} }, false,
			"irq-far-from-poll",
		"100% of the polls of eth9-TxRx-0 ran on another CPU than its interrupt, "
		"which ran on CPU 1", "taskset -pc 1 PID");
	polls_each = 1;
	judged("few polls elsewhere", (struct row []){
		{ 0, 1, 8000, 7000, 64000, 0 }, { 0, 2, 0, 1000, 8000, 1000 }, {} }, false, NULL,
			NULL, NULL);
}

/* The affinity of queue 0 is CPUs 0 and 1, of queue 1 all CPUs. */
static void judge_outside(void)
{
	static const struct row outside[] = {
		{ 0, 3, 8000, 8000, 64000, 0 }, { 1, 2, 6000, 6000, 48000, 0 }, {} };

	judged("outside its affinity", outside, true, "irq-outside-affinity",
	       "100% of the interrupts of eth9-TxRx-0 ran on CPU 3, outside their affinity: 0-1",
	       "echo 0-1 > /proc/irq/30/smp_affinity_list");
	judged("outside, who knows when", outside, false, NULL, NULL, NULL);
	judged("inside its affinity", (struct row []){
		{ 0, 1, 6000, 6000, 48000, 0 }, { 1, 3, 6000, 6000, 48000, 0 }, {} }, true, NULL,
			NULL, NULL);
	judged("moved in the interval", (struct row []){
		{ 0, 0, 100, 100, 800, 0 }, { 0, 3, 2000, 2000, 16000, 0 }, {} }, true, NULL, NULL,
			NULL);
	judged("a few, while it was moved", (struct row []){
		{ 0, 1, 60000, 60000, 480000, 0 }, { 0, 3, 500, 500, 4000, 0 }, {} }, true, NULL,
			NULL, NULL);
}

/* While CPUs have time left, nothing is reported. */
static void judge_idle(void)
{
	idle = 60;
	judged("no moderation, on a CPU with time", (struct row []){
		{ 0, 0, 90000, 90000, 99000, 0 }, {} }, true, NULL, NULL, NULL);
	judged("polls elsewhere, on CPUs with time", (struct row []){
		{ 0, 1, 8000, 100, 900, 0 }, { 0, 2, 0, 7900, 64000, 7900 }, {} }, true, NULL,
			NULL, NULL);
	judged("far above its polls, on a CPU with time", (struct row []){
		{ 0, 0, 9000, 3000, 30000, 0 }, {} }, true, NULL, NULL, NULL);
	idle = 10;
}

static void judge_often(void)
{
	judged("no moderation", (struct row []){
		{ 0, 0, 90000, 90000, 99000, 0 }, {} }, false, "irq-storm",
		"eth9-TxRx-0 interrupts 45000 times per second, for 1.1 packets each time",
		"ethtool -C eth9 rx-usecs 50");
	judged("moderated", (struct row []){
		{ 0, 0, 90000, 90000, 900000, 0 }, {} }, false, NULL, NULL, NULL);
	judged("seldom", (struct row []){
		{ 0, 0, 9000, 9000, 9000, 0 }, {} }, false, NULL, NULL, NULL);
	judged("far above its polls", (struct row []){
		{ 0, 0, 9000, 3000, 30000, 0 }, {} }, false, "irq-without-poll",
		"eth9-TxRx-0 interrupts 4500 times per second, 3.0 times per poll",
		"ethtool -C eth9 rx-usecs 50; ethtool -C eth9 tx-usecs 50");
	adaptive = true;
	judged("no moderation, and adaptive", (struct row []){
		{ 0, 0, 90000, 90000, 99000, 0 }, {} }, false, "irq-storm", "for 1.1 packets each "
			"time",
		"ethtool -C eth9 adaptive-rx off rx-usecs 50");
	judged("far above its polls, and adaptive", (struct row []){
		{ 0, 0, 9000, 3000, 30000, 0 }, {} }, false, "irq-without-poll", "3.0 times per "
			"poll",
		"ethtool -C eth9 adaptive-tx off tx-usecs 50");
	adaptive = false;
	judged("a vector without polls", (struct row []){
		{ 0, 0, 9000, 0, 0, 0 }, {} }, false, NULL, NULL, NULL);
	judged("not of a queue", (struct row []){
		{ -1, 0, 90000, 1, 1, 0 }, {} }, false, NULL, NULL, NULL);
}

/* The table shows the affinity beside the CPU. */
static void show_allowed(void)
{
	const struct irq_key keys[] = { { .irq = 30, .cpu = 3 }, { .irq = 31 }, { .irq = 99 } };
	static const char *const want[] = { "0-1", "0-3", "-" };
	const char *const *label = meter_irq.key.labels;
	unsigned nr = 0;
	char got[32] = "no such label";

	while (label[nr] && strcmp(label[nr], "allowed"))
		nr++;
	for (int i = 0; i < 3; i++) {
		if (label[nr])
			meter_irq.key.text(&keys[i], nr, got, sizeof(got));
		same_text(text("allowed %s", want[i]), got, want[i]);
	}
}

static void put(unsigned irq, const char *file, const char *list)
{
	FILE *f;

	mkdir(text("%s/%u", proc, irq), 0700);
	f = fopen(text("%s/%u/%s", proc, irq, file), "w");
	if (f) {
		fprintf(f, "%s\n", list);
		fclose(f);
	}
}

int main(void)
{
	static const char *const files[] = { "smp_affinity_list", "effective_affinity_list" };

	if (!mkdtemp(proc))
		return 1;
	proc_irq = proc;
	for (int i = 0; i < 2; i++) {
		put(30, files[i], i ? "1" : "0-1");
		put(31, files[i], i ? "3" : "0-3");
	}
	judge_far();
	judge_outside();
	judge_often();
	judge_idle();
	show_allowed();
	for (unsigned irq = 30; irq < 32; irq++) {
		for (int i = 0; i < 2; i++)
			unlink(text("%s/%u/%s", proc, irq, files[i]));
		rmdir(text("%s/%u", proc, irq));
	}
	rmdir(proc);
	return failed > 0;
}
