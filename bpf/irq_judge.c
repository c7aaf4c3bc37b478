/* SPDX-License-Identifier: GPL-2.0 */
/* When interrupts are not well: too many, on one CPU, where they may not be, far from polls. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/log.h"
#include "../lib/queues.h"
#include "irq.h"
#include "irq_judge.h"

#define ENOUGH	1000	/* fewer interrupts say nothing */
#define OFTEN	1000	/* a second: fewer are no load, wherever they run */
#define STORM	20000	/* a second, of one vector: moderation would help */

/* One vector on all CPUs. */
struct sum {
	const struct irq_key *key;
	uint64_t interrupts, polls, packets, elsewhere, unhandled;
	uint64_t caused;		/* polls of which the interrupt is known */
	uint64_t most;		/* of its interrupts, on one CPU… */
	unsigned cpu;		/* …which is this */
};

static uint64_t word(const struct table *t, unsigned row, unsigned metric)
{
	return *cell(t, row, 0, &meter_irq.metrics[metric]);
}

static const struct irq_key *key_at(const struct table *t, unsigned row)
{
	return (const void *)(t->keys + row * sizeof(struct irq_key));
}

static bool same(const struct irq_key *a, const struct irq_key *b)
{
	return a->irq == b->irq && !strncmp(a->name, b->name, IRQ_NAME);
}

/* Adds the CPUs of each vector up. How many there are. */
static unsigned sums_make(const struct table *t, struct sum *sums)
{
	const struct metric *to_poll = &meter_irq.metrics[IRQ_TO_POLL];
	unsigned nr = 0, i;

	for (unsigned row = 0; row < t->rows; row++) {
		const struct irq_key *k = key_at(t, row);
		uint64_t n = word(t, row, IRQ_INTERRUPTS);

		for (i = 0; i < nr && !same(sums[i].key, k); i++)
			;
		if (i == nr)
			sums[nr++] = (struct sum){ .key = k };
		sums[i].interrupts += n;
		sums[i].polls += word(t, row, IRQ_POLLS);
		sums[i].packets += word(t, row, IRQ_PACKETS);
		sums[i].elsewhere += word(t, row, IRQ_ELSEWHERE);
		sums[i].caused += hist_count(to_poll, cell(t, row, 0, to_poll));
		sums[i].unhandled += word(t, row, IRQ_UNHANDLED);
		if (n > sums[i].most) {
			sums[i].most = n;
			sums[i].cpu = k->cpu;
		}
	}
	return nr;
}

static bool serves(const struct irq_key *k)
{
	return k->rx != QUEUE_NONE || k->tx != QUEUE_NONE;
}

static double rate(const struct snapshot *s, uint64_t n)
{
	return s->seconds > 0 ? n / s->seconds : 0;
}

/*
 * The CPU that takes the interrupt may have the descriptors in its caches; another has not. Under
 * load one interrupt makes many polls, of which only the first tells.
 */
static void judge_far(const struct snapshot *s, struct findings *f, const struct sum *sums,
		      unsigned nr)
{
	const struct sum *worst = NULL;
	uint64_t far = 0, caused = 0;

	for (unsigned i = 0; i < nr; i++) {
		far += sums[i].elsewhere;
		caused += sums[i].caused;
		if (!worst || sums[i].elsewhere > worst->elsewhere)
			worst = &sums[i];
	}
	if (far < ENOUGH || rate(s, far) < OFTEN || 2 * far < caused)
		return;
	finding(f, "irq", text("let its thread run there: pgrep -a napi/%s-, taskset -pc %u PID; "
			       "or poll without threads: echo 0 > /sys/class/net/%s/threaded",
			       s->meta.iface, worst->cpu, s->meta.iface),
		"%.0f%% of the polls of %s ran on another CPU than its interrupt: that was CPU %u",
		100.0 * worst->elsewhere / worst->caused, worst->key->name, worst->cpu);
}

/* "echo 0 > /proc/irq/31/smp_affinity_list; …", as many as there is room for. */
static const char *spread(const struct snapshot *s, const struct sum *sums, unsigned nr)
{
	char to[180] = "irqbalance, or: ";
	size_t len = strlen(to);
	unsigned cpu = 0;

	for (unsigned i = 0; i < nr; i++) {
		const struct irq_key *k = sums[i].key;
		const char *one = text("%secho %u > /proc/irq/%u/smp_affinity_list",
				       cpu ? "; " : "",
				       (k->rx >= 0 ? k->rx : k->tx) % s->online, k->irq);

		if (!serves(k) || !sums[i].interrupts)
			continue;
		if (len + strlen(one) + 4 >= sizeof(to)) {
			strcpy(to + len, "; …");
			break;
		}
		strcpy(to + len, one);
		len += strlen(one);
		cpu++;
	}
	return text("%s", to);
}

static void judge_one_cpu(const struct snapshot *s, struct findings *f, const struct sum *sums,
			  unsigned nr)
{
	unsigned rx = 0, tx = 0, cpu = 0;
	uint64_t all = 0, here = 0, most = 0;
	const struct table *t = &s->tables[METER_irq];

	for (unsigned i = 0; i < nr; i++)
		all += serves(sums[i].key) ? sums[i].interrupts : 0;
	for (unsigned i = 0; i < nr; i++)	/* a queue with next to none has nothing to move */
		if (serves(sums[i].key) && sums[i].interrupts * 100 > all) {
			rx += sums[i].key->rx >= 0;
			tx += sums[i].key->tx >= 0;
			if (sums[i].most > most) {
				most = sums[i].most;
				cpu = sums[i].cpu;
			}
		}
	for (unsigned row = 0; row < t->rows; row++)
		if (serves(key_at(t, row)) && key_at(t, row)->cpu == cpu)
			here += word(t, row, IRQ_INTERRUPTS);
	if ((rx < 2 && tx < 2) || s->online < 2 || all < ENOUGH || rate(s, all) < OFTEN ||
	    here < .95 * all || !finding_about(f, ABOUT_ONE_CPU, "irq"))
		return;
	finding(f, "irq", spread(s, sums, nr),
		"CPU %u takes %.0f%% of the interrupts of %u queues; %u CPUs could share them",
		cpu, 100.0 * here / all, rx > tx ? rx : tx, s->online);
}

/* Of a vector: how many ran where it may. */
static uint64_t inside(const struct table *t, const struct irq_key *k, const char *may,
		       const char *does)
{
	uint64_t n = 0;

	for (unsigned row = 0; row < t->rows; row++) {
		unsigned cpu = key_at(t, row)->cpu;

		if (same(key_at(t, row), k) && (cpu_listed(may, cpu) || cpu_listed(does, cpu)))
			n += word(t, row, IRQ_INTERRUPTS);
	}
	return n;
}

/*
 * Totals know no time: an interrupt that was moved since ran where it may not now. In an interval
 * it did so just now; but if it also ran where it may, it was moved meanwhile (irqbalance does).
 */
static void judge_outside(const struct snapshot *s, struct findings *f, const struct sum *sums,
			  unsigned nr)
{
	const struct table *t = &s->tables[METER_irq];

	for (unsigned row = 0; s->interval && row < t->rows; row++) {
		const struct irq_key *k = key_at(t, row);
		uint64_t n = word(t, row, IRQ_INTERRUPTS), all = 0;
		char may[CPU_LIST], does[CPU_LIST];

		for (unsigned i = 0; i < nr; i++)
			all += same(sums[i].key, k) ? sums[i].interrupts : 0;
		if (n < ENOUGH || 10 * n < all)
			continue;
		vector_affinity(k->irq, may, does);
		if (!*may || inside(t, k, may, does))
			continue;
		finding(f, "irq", text("echo %s > /proc/irq/%u/smp_affinity_list; what became of "
				       "it: cat /proc/irq/%u/effective_affinity_list", may,
				       k->irq, k->irq),
			"%.0f%% of the interrupts of %s ran on CPU %u, and it may run on %s only",
			100.0 * n / all, k->name, k->cpu, may);
	}
}

/* Interrupts that bring one packet each, or that find their poll under way. */
static void judge_often(const struct snapshot *s, struct findings *f, const struct sum *sums,
			unsigned nr)
{
	const char *fixed_rx = s->meta.rx_adaptive ? "adaptive-rx off " : "";
	const struct sum *worst = NULL;
	bool useless;

	for (unsigned i = 0; i < nr; i++) {
		const struct sum *c = &sums[i];
		bool moderate = rate(s, c->interrupts) >= STORM && c->packets &&
				c->packets < 2 * c->interrupts;

		useless = c->polls && rate(s, c->interrupts) >= OFTEN &&
			  c->interrupts >= ENOUGH && c->interrupts - c->unhandled > 2 * c->polls;
		if (serves(c->key) && (moderate || useless) &&
		    (!worst || c->interrupts > worst->interrupts))
			worst = c;
	}
	if (!worst)
		return;
	useless = worst->interrupts - worst->unhandled > 2 * worst->polls;
	finding(f, "irq", useless ?
		text("ethtool -C %s %s%srx-usecs 50 tx-usecs 50; if its driver cannot, it does "
		     "part of its work in the interrupt: fewer, larger packets make fewer of them",
		     s->meta.iface, fixed_rx, s->meta.tx_adaptive ? "adaptive-tx off " : "") :
		text("ethtool -C %s %srx-usecs 50; if its driver cannot: cd /sys/class/net/%s; "
		     "echo 2 > napi_defer_hard_irqs; echo 50000 > gro_flush_timeout",
		     s->meta.iface, fixed_rx, s->meta.iface),
		useless ? "%s interrupts %.0f times a second, %.1f times for each poll" :
		"%s interrupts %.0f times a second, for %.1f packets each time",
		worst->key->name, rate(s, worst->interrupts), useless ?
		(double)worst->interrupts / worst->polls :
		(double)worst->packets / worst->interrupts);
}

void irq_judge(const struct snapshot *s, struct findings *f)
{
	const struct table *t = &s->tables[METER_irq];
	struct sum *sums = calloc(t->rows + 1, sizeof(*sums));
	unsigned nr = sums ? sums_make(t, sums) : 0;

	judge_far(s, f, sums, nr);
	judge_one_cpu(s, f, sums, nr);
	judge_outside(s, f, sums, nr);
	judge_often(s, f, sums, nr);
	free(sums);
}
