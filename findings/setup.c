/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about the setup of an interface, reported with it: possible, not actual harm. */
#include <stdlib.h>

#include "findings/steering.h"
#include "findings/subjects.h"
#include "lib/hw/hw.h"
#include "lib/util/log.h"

enum {
	FEW_QUEUES, IRQS_TOGETHER, FAR_NODE, RPS_TOGETHER, RPS_NEEDLESS, IDLE_QUEUES, SHORT_RING,
	NARROW_SLOT, DEFER_NO_EFFECT
};

static const struct finding_kind kinds[] = {
	[FEW_QUEUES] = {
		.id = "setup-few-queues", RATED(INFO, RISK),
		RESTS(ALWAYS, SETUP, 0),
		.title = "The card has unused queues, and CPUs to serve them",
		.means = "One CPU serves each queue. More queues share the work once it exceeds "
			 "what one CPU can do.",
		.when = "fewer queues are in use than the card has and than its NUMA node has CPUs",
		.silent = "Queues reserved for XDP.",
		.remedy = "ethtool -L IFACE combined N",
		.symptom = "One CPU is busy and the others are idle",
	},
	[IRQS_TOGETHER] = {
		.id = "setup-irqs-together", RATED(INFO, RISK),
		RESTS(ALWAYS, SETUP, 0),
		.title = "One CPU handles the interrupts of all queues",
		.means = "The packets are spread over the queues, but one CPU has to poll all of "
			 "them.",
		.when = "the interrupts of two or more queues all have the same single CPU as "
			"effective affinity",
		.remedy = "irqbalance, or /proc/irq/N/smp_affinity_list",
		.symptom = "One CPU is busy and the others are idle",
	},
	[FAR_NODE] = {
		.id = "setup-far-node", RATED(INFO, RISK),
		RESTS(ALWAYS, SETUP, 0),
		.title = "Interrupts go to CPUs of another NUMA node",
		.means = "For every packet, memory accesses of card and CPU cross the link between "
			 "the nodes.",
		.when = "an interrupt of a queue goes to no CPU of the card's node",
		.remedy = "Use the CPUs of the card's node: /proc/irq/N/smp_affinity_list; and "
			  "keep irqbalance from moving them back.",
		.symptom = "Latency is higher than in another slot",
	},
	[RPS_TOGETHER] = {
		.id = "setup-rps-one-cpu", RATED(INFO, RISK),
		RESTS(ALWAYS, SETUP, 0),
		.title = "RPS sends the packets of all queues to one CPU",
		.means = "That CPU does all the work above the driver. When it is overloaded, its "
			 "backlog drops packets while other CPUs have time.",
		.when = "RPS of every receive queue names the same single CPU, that CPU does not "
			"take their interrupts, and there are other CPUs",
		.silent = "A CPU that was chosen on purpose: an imbalance alone does no harm.",
		.remedy = "echo MASK > /sys/class/net/IFACE/queues/rx-N/rps_cpus",
		.symptom = "One CPU is busy and the others are idle",
		.follows = { "rps-one-cpu" },
	},
	[RPS_NEEDLESS] = {
		.id = "setup-rps-needless", RATED(INFO, RISK),
		RESTS(ALWAYS, SETUP, 0),
		.title = "RPS moves packets to CPUs that have a queue of their own",
		.means = "RSS has already spread the packets over these CPUs; RPS moves them "
			 "again, with an inter-processor interrupt per batch.",
		.when = "RPS of a queue names two or more CPUs, all of which take interrupts of "
			"receive queues, and each of them has a queue",
		.remedy = "echo 0 > /sys/class/net/IFACE/queues/rx-N/rps_cpus",
		.symptom = "CPUs interrupt each other (RES, CAL in /proc/interrupts)",
	},
	[IDLE_QUEUES] = {
		.id = "setup-idle-queues", RATED(INFO, RISK),
		RESTS(ALWAYS, SETUP, 0),
		.title = "RSS sends no packets to some receive queues",
		.means = "The indirection table does not list them, so their CPUs receive nothing.",
		.when = "a queue in use appears nowhere in the indirection table, and there are no "
			"rules of ethtool -N",
		.remedy = "ethtool -X IFACE equal N, or fewer queues",
		.symptom = "One CPU is busy and the others are idle",
	},
	[SHORT_RING] = {
		.id = "setup-short-ring", RATED(INFO, RISK),
		RESTS(ALWAYS, SETUP, 0),
		.title = "The receive ring is short and has overflowed before",
		.means = "Since the interface was created, packets found no room in the ring, and "
			 "the card allows a ring at least four times as long.",
		.when = "rx_missed_errors is above 0, and the ring is at most a quarter of its "
			"maximum",
		.remedy = "ethtool -G IFACE rx N",
		.symptom = "Packets are lost now and then",
		.follows = { "rx-ring-full" },
	},
	[NARROW_SLOT] = {
		.id = "setup-narrow-slot", RATED(INFO, RISK),
		RESTS(ALWAYS, SETUP, 0),
		.title = "The PCIe link uses fewer lanes than the card has",
		.means = "The slot, a riser or dirty contacts leave lanes unused, so the card "
			 "cannot reach its full rate.",
		.when = "current_link_width is below max_link_width",
		.remedy = "Another slot: lspci -vv",
		.symptom = "The rate stays below that of the link",
	},
	[DEFER_NO_EFFECT] = {
		.id = "setup-defer-no-effect", RATED(INFO, RISK),
		RESTS(ALWAYS, SETUP, 0),
		.title = "napi_defer_hard_irqs is set but has no effect",
		.means = "Without gro_flush_timeout no timer defers the interrupts "
			 "(napi_complete_done()).",
		.when = "napi_defer_hard_irqs is above 0 and gro_flush_timeout is 0",
		.remedy = "echo 50000 > /sys/class/net/IFACE/gro_flush_timeout",
		.symptom = "As many interrupts as before",
	},
};

static bool serves(const struct hw_line *l)
{
	return l->rx >= 0 || l->tx >= 0;
}

/* CPUs of the card's node, or all if that has none. */
static unsigned near_cpus(const struct hw *h)
{
	return cpus_common(&h->online, &h->card.local) ?: cpus_count(&h->online);
}

/* "combined", or "rx" for drivers with separate directions. */
static void judge_channels(struct evidence *e, const struct hw *h)
{
	const char *way = setting_of(&group_channels, &h->channels, "combined-max") > 0 ?
		"combined" : "rx";
	long long now = setting_of(&group_channels, &h->channels, way);
	long long most = setting_of(&group_channels, &h->channels, text("%s-max", way)), useful;
	struct finding *f;

	if (h->iface.xdp_id && h->driver->xdp_halves)
		most /= 2;
	useful = most < near_cpus(h) ? most : near_cpus(h);
	if (!*h->card.subsystem || now < 1 || now >= useful)
		return;
	f = finding_add(e->f, &kinds[FEW_QUEUES], -1,
			"it uses %lld of %lld possible %squeues, and %u CPUs%s could share the "
			"work",
			now, most, *way == 'r' ? "rx " : "",
			near_cpus(h),
			near_cpus(h) < cpus_count(&h->online) ? " of its node" : "");
	finding_harm(f, 1 - (double)now / useful);
	finding_fix(f, "ethtool", "-L", h->iface.name, way, text("%lld", useful));
	finding_changes(f, "%lld queues; the link may stop for a moment", useful);
}

/* All interrupts go to one CPU, whether each was bound there or none was ever spread. */
static void judge_one_cpu(struct evidence *e, const struct hw *h)
{
	const struct cpus *one = NULL;
	unsigned rx = 0, tx = 0;
	struct finding *f;

	for (unsigned i = 0; i < h->nr; i++) {
		const struct hw_line *l = &h->lines[i];
		const struct cpus *at = interrupts_at(l);

		if (!serves(l) || !l->irq)
			continue;
		if (cpus_count(at) != 1 || (one && !cpus_same(one, at)) ||
		    (i && h->lines[i - 1].irq == l->irq))
			return;
		one = at;
		rx += l->rx >= 0;
		tx += l->tx >= 0;
	}
	if ((rx < 2 && tx < 2) || cpus_count(&h->online) < 2)
		return;
	f = finding_add(e->f, &kinds[IRQS_TOGETHER], -1,
			"the interrupts of all %u queues go to CPU %d; %u CPUs could share them",
			rx > tx ? rx : tx, cpus_next(one, -1),
			cpus_count(&h->online));
	finding_harm(f, 1);
	fix_irqs(e, f, false);
	finding_advise(f, "irqbalance does this as well");
}

static void judge_node(struct evidence *e, const struct hw *h)
{
	unsigned far = 0, all = 0;
	struct finding *f;

	for (unsigned i = 0; i < h->nr && h->nodes > 1 && h->card.node >= 0; i++) {
		const struct hw_line *l = &h->lines[i];

		if (!serves(l) || !l->irq || cpus_next(interrupts_at(l), -1) < 0)
			continue;
		all++;
		if (cpus_common(interrupts_at(l), &h->card.local))
			continue;
		far++;
	}
	if (!far || !cpus_count(&h->card.local))
		return;
	f = finding_add(e->f, &kinds[FAR_NODE], -1,
			"%u of %u queue interrupts go to CPUs of another NUMA node; the card is on "
			"node %d",
			far, all, h->card.node);
	finding_harm(f, (double)far / all);
	fix_irqs(e, f, true);
	finding_advise(f, "and keep irqbalance from moving them back");
}

/* RPS sends all packets to one CPU, other than the CPU that polls all queues. */
static void judge_rps_cpu(struct evidence *e, const struct hw *h)
{
	const struct cpus *one = NULL;
	unsigned queues = 0;
	bool moves = false;
	struct finding *f;

	for (unsigned i = 0; i < h->nr; i++) {
		const struct hw_line *l = &h->lines[i];

		if (l->rx < 0)
			continue;
		if (cpus_count(&l->rps) != 1 || (one && !cpus_same(one, &l->rps)))
			return;
		one = &l->rps;
		moves |= !l->irq || !cpus_same(one, interrupts_at(l));
		queues++;
	}
	if (!moves || cpus_count(&h->online) < 2)
		return;
	f = finding_add(e->f, &kinds[RPS_TOGETHER], -1, "RPS of %s to CPU %d; %u CPUs could share "
			"them", queues == 1 ? "its receive queue sends all packets" :
			text("all %u receive queues sends their packets", queues),
			cpus_next(one, -1), cpus_count(&h->online));
	finding_harm(f, 1);
	fix_rps(e, f, -1);
}

/* RPS to a queue's own CPU alone moves nothing. */
static void judge_rps(struct evidence *e, const struct hw *h)
{
	unsigned nr = 0, queues = 0;
	struct cpus irqs = {};
	char list[CPUS_TEXT];
	struct finding *f;

	for (unsigned i = 0; i < h->nr; i++)
		if (h->lines[i].rx >= 0 && h->lines[i].irq) {
			cpus_add_all(&irqs, interrupts_at(&h->lines[i]));
			queues++;
		}
	for (unsigned i = 0; i < h->nr; i++) {
		const struct hw_line *l = &h->lines[i];
		unsigned to = cpus_count(&l->rps);

		if (l->rx < 0 || !l->irq || to < 2 || cpus_common(&l->rps, &irqs) != to ||
		    cpus_count(&irqs) > queues)
			continue;
		if (!nr++)
			cpus_text(&l->rps, list, sizeof(list));
	}
	if (!nr || h->rss.nr < 2)
		return;
	f = finding_add(e->f, &kinds[RPS_NEEDLESS], -1,
			"RPS moves packets of %u receive queue%s to CPUs %s, which have queues of "
			"their own: RSS spreads them already",
			nr, nr == 1 ? "" : "s", list);
	finding_harm(f, (double)nr / queues);
	finding_fix(f, "sh", "-c", text("for q in /sys/class/net/%s/queues/rx-*; do echo 0 > "
					"$q/rps_cpus; done", h->iface.name));
	finding_changes(f, "no RPS");
}

static void judge_ring(struct evidence *e, const struct hw *h)
{
	long long now = setting_of(&group_rings, &h->rings, "rx");
	long long most = setting_of(&group_rings, &h->rings, "rx-max");
	struct finding *f;

	if (!h->rx_missed || now < 1 || most < 4 * now)
		return;
	f = finding_add(e->f, &kinds[SHORT_RING], -1,
			"%lu packets found no room since the interface was created, and its "
			"receive rings hold %lld of %lld possible packets",
			h->rx_missed, now, most);
	finding_harm(f, 1 - (double)now / most);
	finding_fix(f, "ethtool", "-G", h->iface.name, "rx", text("%lld", 4 * now < most ? 4 * now :
								  most));
	finding_changes(f, "a ring four times as long; the link may stop for a moment");
}

/* Receive queues missing from the indirection table; not if rules of ethtool -N may feed them. */
static void judge_table(struct evidence *e, const struct hw *h)
{
	unsigned nr = 0, idle = 0, queues = h->iface.rx_queues;
	bool *used = h->rss.nr ? calloc(queues + 1, sizeof(*used)) : NULL;
	struct finding *f;

	for (unsigned i = 0; used && i < h->rss.nr; i++)
		if (h->rss.table[i] < queues)
			used[h->rss.table[i]] = true;
	for (unsigned i = 0; used && i < queues; i++) {
		nr += used[i];
		idle += !used[i];
	}
	free(used);
	if (!nr || !idle || h->rss.rules)
		return;
	f = finding_add(e->f, &kinds[IDLE_QUEUES], -1,
			"RSS sends packets to only %u of %u receive queues, and no rule feeds the "
			"others",
			nr, queues);
	finding_harm(f, (double)idle / (nr + idle));
	finding_fix(f, "ethtool", "-X", h->iface.name, "equal", text("%u", queues));
	finding_changes(f, "gives each queue an equal part of the table");
	finding_advise(f, "or fewer queues: ethtool -L %s combined %u", h->iface.name, nr);
}

static void judge_slot(struct evidence *e, const struct hw *h)
{
	struct finding *f;

	if (!h->card.width || h->card.width >= h->card.max_width)
		return;
	f = finding_add(e->f, &kinds[NARROW_SLOT], -1,
			"its PCIe link uses %u of the card's %u lanes", h->card.width,
			h->card.max_width);
	finding_harm(f, 1 - (double)h->card.width / h->card.max_width);
	finding_advise(f, "use another slot; what the card supports: lspci -vv -s %s", h->bus);
}

static void judge_defer(struct evidence *e, const struct hw *h)
{
	struct finding *f;

	if (h->defer_hard_irqs < 1 || h->gro_flush_ns)
		return;
	f = finding_add(e->f, &kinds[DEFER_NO_EFFECT], -1,
			"napi_defer_hard_irqs is %lld, but has no effect while gro_flush_timeout "
			"is 0",
			h->defer_hard_irqs);
	finding_harm(f, 1);
	finding_fix(f, "sh", "-c", text("echo 50000 > /sys/class/net/%s/gro_flush_timeout",
					h->iface.name));
	finding_changes(f, "polls wait 50 us for more packets before interrupts are enabled again");
}

/* Runs only when the setup was asked for: none of these findings is harm by itself. */
static void judge(struct evidence *e)
{
	const struct hw *h = e->s->hw;

	if (!h)
		return;
	judge_slot(e, h);
	judge_channels(e, h);
	judge_one_cpu(e, h);
	judge_node(e, h);
	judge_rps_cpu(e, h);
	judge_rps(e, h);
	judge_table(e, h);
	judge_ring(e, h);
	judge_defer(e, h);
}

DEFINE_SUBJECT(setup, "Setup, as shown by nicprobe show IFACE hw")
