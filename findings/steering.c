/* SPDX-License-Identifier: GPL-2.0 */
/* Where RPS and interrupts send received packets now, and commands that spread them. */
#include <stdio.h>
#include <string.h>

#include "findings/steering.h"
#include "lib/util/log.h"

unsigned steered_queues(struct evidence *e, struct cpus *all)
{
	const struct hw *h = setup(e);
	unsigned queues = 0;

	*all = (struct cpus){};
	for (unsigned i = 0; h && i < h->nr; i++)
		if (h->lines[i].rx >= 0 && cpus_count(&h->lines[i].rps)) {
			cpus_add_all(all, &h->lines[i].rps);
			queues++;
		}
	return queues;
}

unsigned steered_to(struct evidence *e, int queue)
{
	const struct hw *h = setup(e);

	for (unsigned i = 0; h && i < h->nr; i++)
		if (h->lines[i].rx == queue)
			return cpus_count(&h->lines[i].rps);
	return 0;
}

unsigned poll_threads(struct evidence *e, struct cpus *to, char *pids, size_t size)
{
	const struct hw *h = setup(e);
	unsigned threads = 0;
	size_t len = 0;

	*to = (struct cpus){};
	*pids = '\0';
	for (unsigned i = 0; h && i < h->napis.nr; i++) {
		const struct napi_instance *napi = &h->napis.list[i];

		if (!napi->threaded || !napi->pid)
			continue;
		cpus_add_all(to, &napi->thread_cpus);
		threads++;
		if (len < size)
			len += snprintf(pids + len, size - len, " %u", napi->pid);
	}
	if (len >= size)
		*pids = '\0';
	return threads;
}

/* A mask for rps_cpus of the first `cpus` CPUs: "3", "ff,ffffffff". Valid as text(). */
static const char *cpu_mask(unsigned cpus)
{
	const char *mask = text("%x", cpus % 32 ? (1u << cpus % 32) - 1 : 0xffffffff);

	for (unsigned more = (cpus - 1) / 32; cpus && more; more--)
		mask = text("%s,ffffffff", mask);
	return mask;
}

void fix_rps(struct evidence *e, struct finding *one, int queue)
{
	const char *mask = cpu_mask(e->s->online), *dev = e->s->meta.iface;

	finding_fix(one, "sh", "-c", queue < 0 ?
		    text("for q in /sys/class/net/%s/queues/rx-*; do echo %s > $q/rps_cpus; done",
			 dev,
			 mask) :
		    text("echo %s > /sys/class/net/%s/queues/rx-%d/rps_cpus", mask, dev, queue));
	finding_changes(one, "RPS may use %u CPUs", e->s->online);
}

const struct cpus *interrupts_at(const struct hw_line *l)
{
	return cpus_next(&l->does, -1) >= 0 ? &l->does : &l->may;
}

/* "41:0 42:1": interrupts and their new CPUs, on the card's node if known. Returns the number. */
static unsigned pairs(const struct hw *h, bool far_only, char *to, size_t room)
{
	const struct cpus *near = cpus_count(&h->card.local) ? &h->card.local : &h->online;
	unsigned nr = 0, irq = 0;
	int cpu = -1;

	*to = '\0';
	for (unsigned i = 0; i < h->nr; i++) {
		const struct hw_line *l = &h->lines[i];
		const char *pair;

		if ((l->rx < 0 && l->tx < 0) || !l->irq || l->irq == irq ||
		    (far_only && cpus_common(interrupts_at(l), near)))
			continue;
		irq = l->irq;
		cpu = cpus_next(near, cpu);
		cpu = cpu < 0 ? cpus_next(near, -1) : cpu;
		pair = text("%s%u:%d", nr ? " " : "", irq, cpu);
		if (strlen(to) + strlen(pair) >= room)
			break;
		strcat(to, pair);
		nr++;
	}
	return nr;
}

void fix_irqs(struct evidence *e, struct finding *one, bool far_only)
{
	const struct hw *h = setup(e);
	char list[FIX_ROOM - 100], command[FIX_ROOM];
	unsigned nr = h ? pairs(h, far_only, list, sizeof(list)) : 0;

	if (!nr) {
		fix_rps(e, one, -1);
		return;
	}
	snprintf(command, sizeof(command), "for p in %s; do echo ${p#*:} > "
		 "/proc/irq/${p%%:*}/smp_affinity_list; done", list);
	finding_fix(one, "sh", "-c", command);
	finding_changes(one, nr == 1 ? "the interrupt goes to another CPU" :
			"each interrupt goes to another CPU");
}
