/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about how packets are spread over queues and CPUs when a CPU is full. */
#include <math.h>

#include "findings/flows.h"
#include "findings/pressure.h"
#include "findings/settings.h"
#include "findings/steering.h"
#include "findings/subjects.h"
#include "lib/core/nic_driver.h"
#include "lib/hw/hw.h"
#include "lib/util/log.h"

enum {
	RPS_ONE_CPU, RPS_FEW_CPUS, THREADS_ONE_CPU, IRQ_ONE_CPU, ONE_FLOW, FLOWS_COLLIDE,
	QUEUES_UNEVEN, ONE_QUEUE
};

static const struct limit full = { .05, "5% of its time" };
static const struct limit one_flow = { .8, "80% of the packets of the queue" };
static const struct limit uneven = { 1.5, "1.5 times its share, and 25 percentage points above "
				    "it" };
static const struct limit almost_all = { .95, "95%" };

#define PRESSED "packets are lost for lack of CPU time, or a CPU that spends most of its time in " \
	"interrupts, softirqs and polling threads has less than {1} left while another CPU is at " \
	"least half idle"

static const struct finding_kind kinds[] = {
	[RPS_ONE_CPU] = {
		.id = "rps-one-cpu", RATED(WARNING, RISK),
		RESTS(RECEIVED, ON(rxcpu) | SETUP, 0),
		.title = "RPS sends the packets of all queues to one CPU",
		.means = "Receive Packet Steering moves each received packet to one of the CPUs in "
			 "rps_cpus of its queue. If rps_cpus of every queue names the same single "
			 "CPU, that CPU does all the work above the driver, and its backlog drops "
			 "what it cannot process.",
		.when = "every queue that has packets and RPS names the same single CPU, the "
			"packets are not one flow, and " PRESSED,
		.remedy = "Let RPS use all CPUs: echo MASK > "
			  "/sys/class/net/IFACE/queues/rx-N/rps_cpus.",
		.symptom = "One CPU is busy and the others are idle",
		.limits = { &full },
	},
	[RPS_FEW_CPUS] = {
		.id = "rps-few-cpus", RATED(WARNING, RISK),
		RESTS(RECEIVED, ON(rxcpu) | SETUP, 0),
		.title = "RPS uses too few CPUs",
		.means = "Receive Packet Steering moves packets only to the CPUs in rps_cpus. "
			 "These are full, while other CPUs, which it may not use, have time left.",
		.when = "RPS of the receive queues names at least two CPUs but not all, each of "
			"them is too busy to take over work, and " PRESSED,
		.silent = "CPUs outside rps_cpus that are busy with other work.",
		.remedy = "Let RPS use all CPUs: echo MASK > "
			  "/sys/class/net/IFACE/queues/rx-N/rps_cpus.",
		.symptom = "Some CPUs are busy and the others are idle",
		.limits = { &full },
	},
	[THREADS_ONE_CPU] = {
		.id = "napi-threads-one-cpu", RATED(WARNING, RISK),
		RESTS(RECEIVED, ON(rxcpu) | SETUP, 0),
		.title = "All NAPI threads are bound to one CPU",
		.means = "With threaded NAPI a kernel thread, napi/IFACE-N, polls each queue. The "
			 "scheduler could spread these threads, but their affinity names one CPU "
			 "for all of them.",
		.when = "the interface polls in threads, all of them are bound to the same single "
			"CPU, and " PRESSED,
		.remedy = "Widen the affinity of the threads: taskset -pc LIST PID for each, or "
			  "one CPU each.",
		.symptom = "One CPU is busy and the others are idle",
		.limits = { &full },
	},
	[IRQ_ONE_CPU] = {
		.id = "irq-one-cpu", RATED(WARNING, RISK),
		RESTS(RECEIVED, ON(rxcpu) | SETUP, 0),
		.title = "One CPU handles the interrupts of several queues",
		.means = "A queue is polled on the CPU that takes its interrupt. The packets are "
			 "spread over several queues that could be polled in parallel, but one CPU "
			 "takes all their interrupts.",
		.when = "a CPU takes {2} of the packets of an interface whose packets are spread "
			"over several queues, and " PRESSED,
		.remedy = "Spread the interrupts: irqbalance, or /proc/irq/N/smp_affinity_list.",
		.symptom = "One CPU is busy and the others are idle",
		.limits = { &full, &almost_all },
	},
	[ONE_FLOW] = {
		.id = "rx-one-flow", RATED(WARNING, RISK),
		RESTS(RECEIVED, ON(rxcpu), ON(flow)),
		.title = "One flow fills a receive queue",
		.means = "All packets of a flow go to one queue and one CPU, to keep them in "
			 "order. This flow brings as many packets as that CPU can process. RSS, "
			 "RPS and more queues do not help, since they spread flows, not packets.",
		.when = "one flow is {2} that is busiest, beyond its sampling error, and " PRESSED,
		.silent = "A large flow on a CPU that has time left.",
		.remedy = "Have the sender use several connections. Keep other work off that CPU; "
			  "let the card or GRO merge more (larger MTU, GRO, LRO if nothing is "
			  "forwarded).",
		.symptom = "One connection is slow, or loses packets, whatever the settings",
		.limits = { &full, &one_flow },
	},
	[FLOWS_COLLIDE] = {
		.id = "rx-flows-collide", RATED(WARNING, RISK),
		RESTS(RECEIVED, ON(rxcpu), ON(flow)),
		.title = "A few large flows share a receive queue",
		.means = "A hash of addresses and ports assigns each flow to a queue. With few "
			 "flows, some queues get several of them by chance and others none.",
		.when = "the busiest queue has more than {3}, four flows or fewer carry 80% of it, "
			"none of them dominates, and " PRESSED,
		.remedy = "Spread the work of that queue by RPS, which hashes again; or change the "
			  "hash: ethtool -X IFACE hkey …; for UDP include the ports: ethtool -N "
			  "IFACE rx-flow-hash udp4 sdfn.",
		.symptom = "Some connections are slow while others are fast, and it changes when "
			   "they are reopened",
		.limits = { &full, &one_flow, &uneven },
	},
	[QUEUES_UNEVEN] = {
		.id = "rx-queues-uneven", RATED(WARNING, RISK),
		RESTS(RECEIVED, ON(rxcpu), ON(flow)),
		.title = "One receive queue gets far more than its share",
		.means = "The packets belong to many flows, which could be spread evenly, but most "
			 "of them go to one queue: the indirection table or a rule sends them "
			 "there, or the hash ignores the fields in which they differ. With few "
			 "samples it may also be a single flow; the finding says so.",
		.when = "the busiest queue has more than {3}, in flows that are many or not yet "
			"counted, and " PRESSED,
		.remedy = "ethtool -X IFACE equal N; include UDP ports in the hash: ethtool -N "
			  "IFACE rx-flow-hash udp4 sdfn; look for rules: ethtool -n IFACE.",
		.symptom = "One CPU is busy and the others are idle",
		.limits = { &full, &one_flow, &uneven },
	},
	[ONE_QUEUE] = {
		.id = "rx-one-queue", RATED(WARNING, RISK),
		RESTS(RECEIVED, ON(rxcpu), ON(flow)),
		.title = "A single receive queue carries all packets",
		.means = "The interface uses one receive queue, so one CPU takes all packets from "
			 "it.",
		.when = "one receive queue is in use, no single flow is known to fill it, and "
			PRESSED,
		.remedy = "More queues if the card has them (ethtool -L), otherwise RPS.",
		.symptom = "One CPU is busy and the others are idle",
		.limits = { &full },
	},
};

/* Adds severity, harm and the figures that prove it. */
static void weigh(struct evidence *e, struct finding *one, const struct pressure *p)
{
	double idle = p->cpu < 0 ? NAN : load_idle(&e->s->load, p->cpu);

	if (!one)
		return;
	if (p->lost) {
		one->severity = SEVERITY_CRITICAL;
		finding_fact(one, "lost", p->lost, "packets");
	}
	if (!isnan(idle)) {
		finding_fact(one, "cpu", p->cpu, "cpu");
		finding_fact(one, "idle", idle, "ratio");
	}
	finding_harm(one, isnan(idle) ? 1 : fmax(0, 1 - idle));
	finding_strikes(one, rate(e, received(e, one->queue, -1)));
}

/* "12000 packets per second found no room; CPU 0 has 1% of its time left" */
static const char *harm(const struct evidence *e, const struct pressure *p)
{
	double idle = p->cpu < 0 ? NAN : load_idle(&e->s->load, p->cpu);
	const char *cpu = isnan(idle) ? "" :
			  text("CPU %d has %.0f%% of its time left", p->cpu, 100 * fmax(0, idle));

	if (!p->lost)
		return cpu;
	return text("%.0f packets per second found no room%s%s", rate(e, p->lost), *cpu ? "; " : "",
		    cpu);
}

/* All RPS goes to the full CPU, and other CPUs could take over. */
static bool judge_rps(struct evidence *e, const struct pressure *p)
{
	struct finding *one;
	struct cpus to;
	unsigned queues = steered_queues(e, &to);
	int cpu = cpus_next(&to, -1);

	if (!queues || cpus_count(&to) != 1 || (p->cpu >= 0 && p->cpu != cpu) ||
	    e->s->online < 2 || flows_alone(e))
		return false;
	one = finding_add(e->f, &kinds[RPS_ONE_CPU], -1,
			  "RPS of %u receive queue%s sends all packets to CPU %d: %s",
			  queues, queues == 1 ? "" : "s", cpu, harm(e, p));
	fix_rps(e, one, -1);
	weigh(e, one, p);
	return true;
}

/* All CPUs of RPS are busy, and others are not. A single CPU is left to judge_rps(). */
static bool judge_few(struct evidence *e, const struct pressure *p)
{
	char list[CPUS_TEXT];
	struct finding *one;
	struct cpus to;
	unsigned queues = steered_queues(e, &to), nr = cpus_count(&to);

	if (!e->s->load.nr || nr < 2 || nr >= e->s->online ||
	    (p->cpu >= 0 && !cpus_has(&to, p->cpu)))
		return false;
	for (int cpu = cpus_next(&to, -1); cpu >= 0; cpu = cpus_next(&to, cpu))
		if (!cpu_is_busy(e, cpu))
			return false;
	one = finding_add(e->f, &kinds[RPS_FEW_CPUS], -1,
			  "RPS of %u receive queue%s uses only CPUs %s, and %u other CPUs have "
			  "time: %s",
			  queues, queues == 1 ? "" : "s",
			  cpus_text(&to, list, sizeof(list)), free_cpus(e, p->cpu, p->lost),
			  harm(e, p));
	fix_rps(e, one, -1);
	finding_fact(one, "cpus", nr, "cpus");
	weigh(e, one, p);
	return true;
}

static bool judge_threads(struct evidence *e, const struct pressure *p)
{
	char pids[400];
	struct finding *one;
	struct cpus to;
	unsigned threads = poll_threads(e, &to, pids, sizeof(pids));

	if (threads < 2 || cpus_count(&to) != 1)
		return false;
	one = finding_add(e->f, &kinds[THREADS_ONE_CPU], -1,
			  "the %u threads that poll %s are bound to CPU %d: %s",
			  threads, e->s->meta.iface, cpus_next(&to, -1),
			  harm(e, p));
	if (*pids) {
		finding_fix(one, "sh", "-c", text("for t in%s; do taskset -pc 0-%u $t; done", pids,
						  e->s->online - 1));
		finding_changes(one, "the threads may run on CPUs 0-%u", e->s->online - 1);
	} else {
		finding_advise(one, "taskset -pc 0-%u for each thread napi/%s-N",
			       e->s->online - 1, e->s->meta.iface);
	}
	weigh(e, one, p);
	return true;
}

/* Is the share of the busiest queue far above fair? */
static bool is_uneven(const struct evidence *e, int queue, double *share)
{
	double fair = 1.0 / e->s->meta.rx_queues;
	uint64_t all = received(e, -1, -1);

	*share = all ? (double)received(e, queue, -1) / all : 0;
	return e->s->meta.rx_queues > 1 && *share > uneven.value * fair && *share >= fair + .25;
}

static void tell_flow(struct evidence *e, const struct pressure *p, const struct flows *f,
		      int queue)
{
	struct finding *one = finding_add(e->f, &kinds[ONE_FLOW], queue,
					  "one flow, %s, is about %.0f%% of receive queue %d: %s",
					  f->name[0],
					  100 * f->share[0], queue, harm(e, p));

	finding_advise(one, "one flow cannot be spread: have the sender use several connections, "
		       "and keep other work off CPU %d",
		       p->cpu >= 0 ? p->cpu : cpu_of_queue(e, queue));
	finding_fact(one, "share", f->share[0], "ratio");
	finding_fact(one, "samples", f->samples, "packets");
	weigh(e, one, p);
}

static void tell_few(struct evidence *e, const struct pressure *p, const struct flows *f, int queue,
		     double share)
{
	struct finding *one = finding_add(e->f, &kinds[FLOWS_COLLIDE], queue,
					  "%u flows (%.0f%% %s, %.0f%% %s%s) share receive queue "
					  "%d, which has %.0f%% of the packets: %s",
					  f->most, 100 * f->share[0],
					  f->name[0], 100 * f->share[1], f->name[1],
					  f->most > 2 ? ", …" : "", queue, 100 * share, harm(e, p));

	fix_rps(e, one, queue);
	finding_fact(one, "flows", f->most, "flows");
	finding_fact(one, "share", share, "ratio");
	weigh(e, one, p);
}

static void tell_uneven(struct evidence *e, const struct pressure *p, const struct flows *f,
			int queue, double share)
{
	const char *own = driver_find(e->s->meta.driver)->spread, *dev = e->s->meta.iface;
	const struct hw *h = setup(e);
	const char *flows = flows_unsure(f) ? "" : text(", in %u flows or more", f->nr);
	struct finding *one = finding_add(e->f, &kinds[QUEUES_UNEVEN], queue,
					  "receive queue %d has %.0f%% of the packets, %.1f times "
					  "its share%s: %s",
					  queue, 100 * share,
					  share * e->s->meta.rx_queues, flows, harm(e, p));

	if (flows_unsure(f)) {
		flows_advise(e, one);
	} else if (h && h->rss.nr && !own) {
		finding_fix(one, "ethtool", "-X", dev, "equal", text("%u", e->s->meta.rx_queues));
		finding_changes(one, "gives each of the %u queues an equal part of the hash table",
				e->s->meta.rx_queues);
		finding_advise(one, "if UDP comes from few hosts, hash the ports too: ethtool -N "
			       "%s rx-flow-hash udp4 sdfn",
			       dev);
	} else {
		fix_rps(e, one, queue);
		finding_advise(one, "%s", own ?: "");
	}
	finding_fact(one, "share", share, "ratio");
	weigh(e, one, p);
}

static void tell_single(struct evidence *e, const struct pressure *p, const struct flows *f)
{
	long long most = channels_value(e, "combined-max");
	struct finding *one = finding_add(e->f, &kinds[ONE_QUEUE], 0,
					  "%s receives through a single queue: %s",
					  e->s->meta.iface, harm(e, p));

	if (flows_unsure(f)) {
		flows_advise(e, one);
	} else if (most > 1 && is_hardware(e)) {	/* software: fixed at creation */
		long long use = most < e->s->online ? most : e->s->online;

		finding_fix(one, "ethtool", "-L", e->s->meta.iface, "combined", text("%lld", use));
		finding_changes(one, "%lld queues; the link may stop for a moment", use);
	} else {
		fix_rps(e, one, 0);
	}
	weigh(e, one, p);
}

static void tell_irqs(struct evidence *e, const struct pressure *p, int cpu)
{
	struct finding *one = finding_add(e->f, &kinds[IRQ_ONE_CPU], -1,
					  "CPU %d takes the packets of all %u receive queues in "
					  "use: %s",
					  cpu, p->queues,
					  harm(e, p));

	fix_irqs(e, one, false);
	finding_advise(one, "irqbalance does this as well");
	weigh(e, one, p);
}

/* Reports the first cause that fits; its effects are left to the findings of ring and backlog. */
static void judge(struct evidence *e)
{
	struct pressure p = pressure_of(e);
	struct flows flows;
	double share;

	if (!p.pressed || !free_cpus(e, p.cpu, p.lost))
		return;
	if (judge_rps(e, &p) || judge_few(e, &p) || judge_threads(e, &p) || p.queue < 0)
		return;
	flows_of(e, p.queue, &flows);
	if (steered_to(e, p.queue) > 1) {
		if (flows_one(&flows))
			tell_flow(e, &p, &flows, p.queue);
		return;
	}
	if (is_uneven(e, p.queue, &share) || e->s->meta.rx_queues == 1) {
		if (flows_one(&flows))
			tell_flow(e, &p, &flows, p.queue);
		else if (e->s->meta.rx_queues == 1)
			tell_single(e, &p, &flows);
		else if (flows_few(&flows))
			tell_few(e, &p, &flows, p.queue, share);
		else
			tell_uneven(e, &p, &flows, p.queue, share);
		return;
	}
	for (unsigned cpu = 0; cpu < e->s->meta.cpus; cpu++)
		if (p.queues > 1 &&
		    received(e, -1, cpu) >= almost_all.value * received(e, -1, -1))
			tell_irqs(e, &p, cpu);
}

DEFINE_SUBJECT(receiving, "Receiving: queues and CPUs")
