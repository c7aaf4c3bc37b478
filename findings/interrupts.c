/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about interrupts: too many, away from their polls, outside their affinity. */
#include <stdlib.h>
#include <string.h>

#include "bpf/irq/irq.h"
#include "findings/settings.h"
#include "findings/steering.h"
#include "findings/subjects.h"
#include "lib/net/queues.h"
#include "lib/util/log.h"

enum { STORM, USELESS, FAR, OUTSIDE, NODE };

static const struct limit enough = { 1000, "1000 interrupts" };
static const struct limit often = { 1000, "1000 per second" };
static const struct limit storm = { 20000, "20000 times per second" };
static const struct limit half = { .5, "half of the polls" };
static const struct limit two = { 2, "two" };
static const struct limit loaded = { 10000, "10000 packets per second" };
#define BUSY_CPU "and that CPU has less than a quarter of its time left"

static const struct finding_kind kinds[] = {
	[STORM] = {
		.id = "irq-storm", RATED(WARNING, WORK),
		RESTS(EITHER, ON(irq), 0),
		.title = "A queue interrupts for every packet or two",
		.means = "Each interrupt preempts its CPU for about a microsecond and displaces "
			 "its caches. Moderation makes the card wait for a few packets, or some "
			 "microseconds, before it interrupts.",
		.when = "one vector interrupts {3} or more, for less than {5} packets each time, "
			BUSY_CPU,
		.silent = "A CPU that has time left: frequent interrupts are the price of low "
			  "latency.",
		.remedy = "ethtool -C IFACE rx-usecs 50; or napi_defer_hard_irqs and "
			  "gro_flush_timeout.",
		.symptom = "A CPU is busy with interrupts at a moderate packet rate",
		.limits = { &enough, &often, &storm, &half, &two },
	},
	[USELESS] = {
		.id = "irq-without-poll", RATED(WARNING, WORK),
		RESTS(EITHER, ON(irq), 0),
		.title = "Interrupts arrive while their poll is running",
		.means = "NAPI masks a queue's interrupt while it polls. This vector interrupts "
			 "several times per poll: the driver does part of its work in the hard "
			 "interrupt, or does not mask it.",
		.when = "a vector with {1} or more, and {2} or more, interrupts more than {5} "
			"times per poll, " BUSY_CPU,
		.remedy = "ethtool -C IFACE rx-usecs 50 tx-usecs 50",
		.symptom = "A CPU is busy with interrupts at a moderate packet rate",
		.limits = { &enough, &often, &storm, &half, &two },
	},
	[FAR] = {
		.id = "irq-far-from-poll", RATED(WARNING, WORK),
		RESTS(EITHER, ON(irq), 0),
		.title = "Polls run on another CPU than the interrupt that raised them",
		.means = "Threaded NAPI polls wherever the scheduler places the thread. "
			 "Descriptors and wake-ups then move between the caches of two CPUs on "
			 "every poll.",
		.when = "{4}, {2} or more, ran on another CPU than their interrupt, and one of the "
			"two CPUs has less than a quarter of its time left",
		.silent = "Threads pinned to CPUs of their own, while those have time left.",
		.remedy = "Pin the thread to the CPU of the interrupt: taskset -pc CPU PID.",
		.symptom = "Latency varies from packet to packet",
		.limits = { &enough, &often, &storm, &half, &two },
	},
	[OUTSIDE] = {
		.id = "irq-outside-affinity", RATED(WARNING, WORK),
		RESTS(EITHER, ON(irq), 0),
		.title = "Interrupts run on a CPU outside their affinity",
		.means = "smp_affinity_list was written, but the interrupt still goes to another "
			 "CPU: the hardware moves it only at the next interrupt, or cannot move "
			 "it.",
		.when = "{1} of a vector ran in the window on a CPU outside its affinity, and none "
			"on a CPU inside it",
		.remedy = "cat /proc/irq/N/effective_affinity_list shows where the interrupt "
			  "really goes.",
		.symptom = "An isolated CPU is interrupted",
		.limits = { &enough, &often, &storm, &half, &two },
	},
	[NODE] = {
		.id = "irq-far-node", RATED(WARNING, WORK),
		RESTS(RECEIVED, ON(rxcpu) | SETUP, 0),
		.title = "A busy CPU polls a card on another NUMA node",
		.means = "The card writes packets and descriptors to the memory of its own node, "
			 "and the CPU fetches each of them over the link between the nodes. Every "
			 "packet costs more time than on a CPU of the card's node, and this CPU "
			 "has none left.",
		.when = "the interrupt of a receive queue goes to no CPU of the card's node, the "
			"CPU that polls it takes {1} or more from that queue and has less than a "
			"quarter of its time left, and a CPU of the card's node is at least half "
			"idle (`show IFACE hw` reports the affinity alone, as setup-far-node)",
		.silent = "A CPU that has time left.",
		.remedy = "Use the CPUs of the card's node: /proc/irq/N/smp_affinity_list; and "
			  "keep irqbalance from moving them back.",
		.symptom = "A CPU is busy at a rate that another CPU of this host handles easily",
		.limits = { &loaded },
	},
};

/* One vector, summed over all CPUs. */
struct sum {
	const struct irq_key *key;
	uint64_t interrupts, polls, packets, elsewhere, unhandled;
	uint64_t caused;	/* polls whose interrupt is known */
	uint64_t most;		/* of its interrupts on one CPU… */
	unsigned cpu;		/* …which is this */
	uint64_t far;		/* polls elsewhere, on one CPU… */
	unsigned far_cpu;	/* …which is this */
};

static const struct irq_key *key_at(const struct table *t, unsigned row)
{
	return (const void *)(t->keys + row * sizeof(struct irq_key));
}

static bool same(const struct irq_key *a, const struct irq_key *b)
{
	return a->irq == b->irq && !strncmp(a->name, b->name, IRQ_NAME);
}

/* Sums each vector over its CPUs. Returns the number of vectors. */
static unsigned sums_make(const struct table *t, struct sum *sums)
{
	const struct metric *k = metric_of(&meter_irq, "to_poll");
	unsigned nr = 0, i;

	for (unsigned row = 0; row < t->rows; row++) {
		const struct irq *q = (const void *)row_words(t, row, 0);

		for (i = 0; i < nr && !same(sums[i].key, key_at(t, row)); i++)
			;
		if (i == nr)
			sums[nr++] = (struct sum){ .key = key_at(t, row) };
		sums[i].interrupts += q->interrupts;
		sums[i].polls += q->polls;
		sums[i].packets += q->packets;
		sums[i].elsewhere += q->elsewhere;
		sums[i].unhandled += q->unhandled;
		sums[i].caused += hist_count(k, words_at(&q->to_poll.sum));
		if (q->interrupts > sums[i].most) {
			sums[i].most = q->interrupts;
			sums[i].cpu = key_at(t, row)->cpu;
		}
		if (q->elsewhere > sums[i].far) {
			sums[i].far = q->elsewhere;
			sums[i].far_cpu = key_at(t, row)->cpu;
		}
	}
	return nr;
}

static bool serves(const struct irq_key *k)
{
	return k->rx != QUEUE_NONE || k->tx != QUEUE_NONE;
}

static int queue_of(const struct irq_key *k)
{
	return k->rx >= 0 ? k->rx : k->tx >= 0 ? k->tx : -1;
}

/* Interrupts of a direction, "rx" or "tx", wait for 50 us. */
static void fix_usecs(struct evidence *e, struct finding *f, const char *way)
{
	const char *dev = e->s->meta.iface, *usecs = text("%s-usecs", way);
	const char *adaptive = text("adaptive-%s", way);

	if (coalesce_value(e, adaptive) > 0)
		finding_fix(f, "ethtool", "-C", dev, adaptive, "off", usecs, "50");
	else
		finding_fix(f, "ethtool", "-C", dev, usecs, "50");
}

/* Without coalescing in the driver, defer interrupts in the kernel. */
static void fix_storm(struct evidence *e, struct finding *f)
{
	if (coalesce_value(e, "rx-usecs") >= 0)
		fix_usecs(e, f, "rx");
	else
		finding_fix(f, "sh", "-c", text("cd /sys/class/net/%s && echo 2 > "
						"napi_defer_hard_irqs && echo 50000 > "
						"gro_flush_timeout", e->s->meta.iface));
	finding_changes(f, "an interrupt waits for up to 50 us for more packets");
}

static void judge_storm(struct evidence *e, const struct sum *s)
{
	struct finding *f;

	if (!serves(s->key) || rate(e, s->interrupts) < storm.value || !s->packets ||
	    s->packets >= two.value * s->interrupts || !cpu_is_busy(e, s->cpu))
		return;
	f = finding_add(e->f, &kinds[STORM], queue_of(s->key),
			"%s interrupts %.0f times per second, for %.1f packets each time",
			s->key->name, rate(e, s->interrupts),
			(double)s->packets / s->interrupts);
	finding_harm(f, rate(e, s->packets));
	finding_fact(f, "interrupts", s->interrupts, "interrupts");
	finding_fact(f, "packets", s->packets, "packets");
	fix_storm(e, f);
}

static void judge_useless(struct evidence *e, const struct sum *s)
{
	uint64_t mine = s->interrupts > s->unhandled ? s->interrupts - s->unhandled : 0;
	struct finding *f;

	if (!serves(s->key) || !s->polls || rate(e, s->interrupts) < often.value ||
	    !worth(e, s->interrupts, enough.value) || mine <= two.value * s->polls ||
	    !cpu_is_busy(e, s->cpu))
		return;
	f = finding_add(e->f, &kinds[USELESS], queue_of(s->key),
			"%s interrupts %.0f times per second, %.1f times per poll",
			s->key->name, rate(e, s->interrupts),
			(double)mine / s->polls);
	finding_harm(f, rate(e, s->packets));
	finding_fact(f, "interrupts", s->interrupts, "interrupts");
	finding_fact(f, "polls", s->polls, "polls");
	fix_usecs(e, f, "rx");
	fix_usecs(e, f, "tx");
	finding_changes(f, "an interrupt waits for up to 50 us for more packets");
	finding_advise(f, "if the driver does part of its work in the interrupt, moderation does "
		       "not help: fewer, larger packets do");
}

/* Under load one interrupt causes many polls; only the first is attributed to it. */
static void judge_far(struct evidence *e, const struct sum *sums, unsigned nr)
{
	const struct sum *worst = NULL;
	uint64_t far = 0, caused = 0;
	struct finding *f;

	for (unsigned i = 0; i < nr; i++) {
		far += sums[i].elsewhere;
		caused += sums[i].caused;
		if (!worst || sums[i].elsewhere > worst->elsewhere)
			worst = &sums[i];
	}
	if (!worth(e, far, enough.value) || rate(e, far) < often.value ||
	    far < half.value * caused ||
	    !(cpu_is_busy(e, worst->cpu) || cpu_is_busy(e, worst->far_cpu)))
		return;
	f = finding_add(e->f, &kinds[FAR], queue_of(worst->key),
			"%.0f%% of the polls of %s ran on another CPU than its interrupt, which "
			"ran on CPU %u",
			100.0 * worst->elsewhere / worst->caused,
			worst->key->name, worst->cpu);
	finding_harm(f, rate(e, worst->packets));
	finding_fact(f, "elsewhere", far, "polls");
	finding_advise(f, "pin its thread there: pgrep -a napi/%s-, taskset -pc %u PID; or poll "
		       "without threads: echo 0 > /sys/class/net/%s/threaded",
		       e->s->meta.iface, worst->cpu, e->s->meta.iface);
}

/* Interrupts of a vector that ran inside its affinity. */
static uint64_t inside(const struct table *t, const struct irq_key *k, const struct cpus *may,
		       const struct cpus *does)
{
	uint64_t n = 0;

	for (unsigned row = 0; row < t->rows; row++) {
		unsigned cpu = key_at(t, row)->cpu;

		if (same(key_at(t, row), k) && (cpus_has(may, cpu) || cpus_has(does, cpu)))
			n += row_words(t, row, 0)[0];
	}
	return n;
}

/* Only in an interval, so that the affinity is current; if some ran inside, it was just moved. */
static void judge_outside(struct evidence *e, const struct sum *sums, unsigned nr)
{
	struct cpus affinity, effective;
	char may[256];

	for (unsigned i = 0; e->s->interval && i < nr; i++) {
		const struct irq_key *k = sums[i].key;
		struct finding *f;

		if (!worth(e, sums[i].most, enough.value))
			continue;
		vector_affinity(k->irq, &affinity, &effective);
		if (!*cpus_text(&affinity, may, sizeof(may)) ||
		    inside(&e->s->tables[METER_irq], k, &affinity, &effective))
			continue;
		f = finding_add(e->f, &kinds[OUTSIDE], queue_of(k),
				"%.0f%% of the interrupts of %s ran on CPU %u, outside their "
				"affinity: %s",
				100.0 * sums[i].most / sums[i].interrupts, k->name,
				sums[i].cpu, may);
		finding_harm(f, rate(e, sums[i].packets));
		finding_fact(f, "interrupts", sums[i].most, "interrupts");
		finding_fix(f, "sh", "-c", text("echo %s > /proc/irq/%u/smp_affinity_list", may,
						k->irq));
		finding_changes(f, "the affinity is set to CPU %s again", may);
		finding_advise(f, "where it goes now: cat /proc/irq/%u/effective_affinity_list",
			       k->irq);
	}
}

/* Does the queue's interrupt go to other nodes only, and is the queue polled there? */
static bool is_far(const struct hw *h, unsigned rx, int cpu)
{
	for (unsigned i = 0; i < h->nr; i++)
		if (h->lines[i].rx == (int)rx && h->lines[i].irq)
			return !cpus_common(interrupts_at(&h->lines[i]), &h->card.local) &&
			       !cpus_has(&h->card.local, cpu);
	return false;
}

static bool has_free(const struct evidence *e, const struct cpus *cpus)
{
	for (int cpu = cpus_next(cpus, -1); cpu >= 0; cpu = cpus_next(cpus, cpu))
		if (load_idle(&e->s->load, cpu) >= .5)
			return true;
	return false;
}

/* Reads the setup only if a CPU is busy with packets of a queue, which is rare. */
static void judge_node(struct evidence *e)
{
	const struct hw *h = NULL;
	uint64_t worst = 0, all = 0;
	int queue = -1, at = -1;
	struct finding *f;

	for (unsigned rx = 0; rx < e->s->meta.rx_queues; rx++) {
		int cpu = cpu_of_queue(e, rx);
		uint64_t n = cpu < 0 ? 0 : received(e, rx, cpu);

		if (rate(e, n) < loaded.value || !cpu_is_busy(e, cpu))
			continue;
		h = setup(e);
		if (!h || h->nodes < 2 || h->card.node < 0 || !cpus_count(&h->card.local))
			return;
		if (!is_far(h, rx, cpu))
			continue;
		all += n;
		if (n <= worst)
			continue;
		worst = n;
		queue = rx;
		at = cpu;
	}
	if (!all || !has_free(e, &h->card.local))
		return;
	f = finding_add(e->f, &kinds[NODE], queue,
			"CPU %d polls receive queue %d from another NUMA node than the card's "
			"(node %d): CPU %d has %.0f%% of its time left",
			at, queue, h->card.node, at, 100 * load_idle(&e->s->load, at));
	finding_packets(e, f, all);
	finding_fact(f, "node", h->card.node, "node");
	fix_irqs(e, f, true);
	finding_advise(f, "and keep irqbalance from moving them back");
}

static void judge(struct evidence *e)
{
	const struct table *t = &e->s->tables[METER_irq];
	struct sum *sums;
	unsigned nr;

	judge_node(e);
	if (!has(e, METER_irq))
		return;
	sums = calloc(t->rows + 1, sizeof(*sums));
	nr = sums ? sums_make(t, sums) : 0;
	for (unsigned i = 0; i < nr; i++) {
		judge_storm(e, &sums[i]);
		judge_useless(e, &sums[i]);
	}
	if (nr) {
		judge_far(e, sums, nr);
		judge_outside(e, sums, nr);
	}
	free(sums);
}

DEFINE_SUBJECT(interrupts, "Interrupts")
