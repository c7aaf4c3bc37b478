/* SPDX-License-Identifier: GPL-2.0 */
/* Findings of the meter irq, over tables made up: each speaks where it must, and only there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/log.h"
#include "../../lib/queues.h"
#include "../../lib/snapshot.h"
#include "../../bpf/irq.h"

#define SUBJECT "irq "
#include "check.h"

static char proc[64] = "/tmp/irq_test.XXXXXX";

/* One row: the queue it serves, its CPU, and what it counted. */
struct row {
	int queue;
	unsigned cpu;
	uint64_t interrupts, polls, packets, elsewhere;
};
static unsigned polls_each = 1;	/* that an interrupt makes */
static bool adaptive;		/* its driver changes the moderation as it goes */

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

/* `speaks`: a part of the sentence, NULL: silence. `try`: a part of what to try. */
static void judged(const char *name, const struct row *rows, bool interval, const char *speaks,
		   const char *try)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	struct table *t = &s->tables[METER_irq];
	const struct finding *f = s->findings.list;
	bool good;

	t->cpus = 1;
	t->words = meter_irq.row_size / 8;
	for (; rows->interrupts || rows->polls; rows++)
		row_put(t, rows);
	snprintf(s->meta.iface, sizeof(s->meta.iface), "eth9");
	s->meta.rx_adaptive = s->meta.tx_adaptive = adaptive;
	s->seconds = 2;
	s->online = 4;
	s->interval = interval;
	s->wanted = 1ull << METER_irq;
	snapshot_judge(s);
	if (speaks)
		good = s->findings.nr == 1 && strstr(f->what, speaks) && strstr(f->try, try) &&
		       strlen(f->try) < sizeof(f->try) - 1;
	else
		good = !s->findings.nr;
	check(good, text("judge %s", name),
	      text("%u, \"%s\", \"%s\"", s->findings.nr, f->what, f->try));
	free(t->cells);
	free(t->keys);
	free(s);
}

static void judge_far(void)
{
	judged("polls elsewhere", (struct row []){
		{ 0, 1, 8000, 100, 900, 0 }, { 0, 2, 0, 7900, 64000, 7900 }, {} }, false,
		"99% of the polls of eth9-TxRx-0 ran on another CPU than its interrupt: "
		"that was CPU 1",
		"taskset -pc 1 PID");
	judged("polls where interrupts are", (struct row []){
		{ 0, 1, 8000, 8000, 64000, 0 }, {} }, false, NULL, NULL);
	judged("polls elsewhere of many", (struct row []){
		{ 0, 0, 800, 0, 0, 0 }, { 0, 3, 0, 800, 6400, 750 },
		{ 1, 1, 700, 0, 0, 0 }, { 1, 3, 0, 700, 5600, 600 },
		{ 2, 2, 900, 0, 0, 0 }, { 2, 3, 0, 900, 7200, 900 }, {} }, false,
		"100% of the polls of eth9-TxRx-2 ran on another CPU than its interrupt: "
		"that was CPU 2", "taskset -pc 2 PID");
	polls_each = 10;
	judged("polls elsewhere, many for each interrupt", (struct row []){
		{ 0, 1, 8000, 0, 0, 0 }, { 0, 2, 0, 80000, 5000000, 8000 }, {} }, false,
		"100% of the polls of eth9-TxRx-0 ran on another CPU than its interrupt: "
		"that was CPU 1", "taskset -pc 1 PID");
	polls_each = 1;
	judged("few polls elsewhere", (struct row []){
		{ 0, 1, 8000, 7000, 64000, 0 }, { 0, 2, 0, 1000, 8000, 1000 }, {} }, false, NULL,
		NULL);
}

static void judge_one_cpu(void)
{
	judged("all on one CPU", (struct row []){
		{ 0, 2, 5000, 5000, 40000, 0 }, { 1, 2, 5000, 5000, 40000, 0 },
		{ 2, 2, 5000, 5000, 40000, 0 }, { 3, 2, 5000, 5000, 40000, 0 },
		{ 3, 1, 3, 3, 9, 0 }, {} }, false,
		"CPU 2 takes 100% of the interrupts of 4 queues; 4 CPUs could share them",
		"echo 0 > /proc/irq/30/smp_affinity_list; echo 1 > /proc/irq/31/smp_affinity_list");
	judged("spread", (struct row []){
		{ 0, 0, 5000, 5000, 40000, 0 }, { 1, 1, 5000, 5000, 40000, 0 }, {} }, false, NULL,
		NULL);
	judged("one queue", (struct row []){
		{ 0, 0, 5000, 5000, 40000, 0 }, { -1, 0, 50, 0, 0, 0 }, {} }, false, NULL, NULL);
	judged("one queue, and next to nothing of another", (struct row []){
		{ 0, 0, 5000, 5000, 40000, 0 }, { 1, 0, 5, 5, 5, 0 }, {} }, false, NULL, NULL);
	judged("seldom, on one CPU", (struct row []){
		{ 0, 0, 900, 900, 9000, 0 }, { 1, 0, 900, 900, 9000, 0 }, {} }, false, NULL, NULL);
}

/* Queue 0 may run on CPUs 0 and 1, queue 1 anywhere. */
static void judge_outside(void)
{
	static const struct row outside[] = {
		{ 0, 3, 8000, 8000, 64000, 0 }, { 1, 2, 6000, 6000, 48000, 0 }, {} };

	judged("outside its affinity", outside, true,
	       "100% of the interrupts of eth9-TxRx-0 ran on CPU 3, and it may run on 0-1 only",
	       "echo 0-1 > /proc/irq/30/smp_affinity_list");
	judged("outside, who knows when", outside, false, NULL, NULL);
	judged("inside its affinity", (struct row []){
		{ 0, 1, 6000, 6000, 48000, 0 }, { 1, 3, 6000, 6000, 48000, 0 }, {} }, true, NULL,
		NULL);
	judged("moved in the interval", (struct row []){
		{ 0, 0, 100, 100, 800, 0 }, { 0, 3, 2000, 2000, 16000, 0 }, {} }, true, NULL, NULL);
	judged("a few, while it was moved", (struct row []){
		{ 0, 1, 60000, 60000, 480000, 0 }, { 0, 3, 500, 500, 4000, 0 }, {} }, true, NULL,
		NULL);
}

static void judge_often(void)
{
	judged("no moderation", (struct row []){
		{ 0, 0, 90000, 90000, 99000, 0 }, {} }, false,
		"eth9-TxRx-0 interrupts 45000 times a second, for 1.1 packets each time",
		"ethtool -C eth9 rx-usecs 50");
	judged("moderated", (struct row []){
		{ 0, 0, 90000, 90000, 900000, 0 }, {} }, false, NULL, NULL);
	judged("seldom", (struct row []){
		{ 0, 0, 9000, 9000, 9000, 0 }, {} }, false, NULL, NULL);
	judged("far above its polls", (struct row []){
		{ 0, 0, 9000, 3000, 30000, 0 }, {} }, false,
		"eth9-TxRx-0 interrupts 4500 times a second, 3.0 times for each poll",
		"ethtool -C eth9 rx-usecs 50 tx-usecs 50; if its driver cannot");
	adaptive = true;
	judged("no moderation, and adaptive", (struct row []){
		{ 0, 0, 90000, 90000, 99000, 0 }, {} }, false, "for 1.1 packets each time",
		"ethtool -C eth9 adaptive-rx off rx-usecs 50; if its driver cannot");
	judged("far above its polls, and adaptive", (struct row []){
		{ 0, 0, 9000, 3000, 30000, 0 }, {} }, false, "3.0 times for each poll",
		"ethtool -C eth9 adaptive-rx off adaptive-tx off rx-usecs 50 tx-usecs 50; if");
	adaptive = false;
	judged("a vector without polls", (struct row []){
		{ 0, 0, 9000, 0, 0, 0 }, {} }, false, NULL, NULL);
	judged("not of a queue", (struct row []){
		{ -1, 0, 90000, 1, 1, 0 }, {} }, false, NULL, NULL);
}

/* Beside where it ran: where it may. */
static void show_allowed(void)
{
	const struct irq_key keys[] = { { .irq = 30, .cpu = 3 }, { .irq = 31 }, { .irq = 99 } };
	static const char *const want[] = { "0-1", "0-3", "-" };
	const char *const *label = meter_irq.key_labels;
	unsigned nr = 0;
	char got[32] = "no such label";

	while (label[nr] && strcmp(label[nr], "allowed"))
		nr++;
	for (int i = 0; i < 3; i++) {
		if (label[nr])
			meter_irq.key_text(&keys[i], nr, got, sizeof(got));
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
	judge_one_cpu();
	judge_outside();
	judge_often();
	show_allowed();
	for (unsigned irq = 30; irq < 32; irq++) {
		for (int i = 0; i < 2; i++)
			unlink(text("%s/%u/%s", proc, irq, files[i]));
		rmdir(text("%s/%u", proc, irq));
	}
	rmdir(proc);
	return failed > 0;
}
