/* SPDX-License-Identifier: GPL-2.0 */
/* Determines what limited the rate: losses, busy CPUs, the generator, or other work. */
#include <stdio.h>
#include <string.h>

#include "lib/util/log.h"
#include "trial/scenario/suite.h"

#define BUSY	.9		/* share of its time from which a CPU counts as fully busy */
#define OTHERS	.05		/* share of CPU time from which other work is mentioned… */
#define MOST	.25		/* …and from which it is the limit */
#define MANY	.01		/* share of packets from which a loss is the limit */

static double busy(const struct outcome *o, unsigned cpu)
{
	return o->effort.all[cpu] ? (double)o->effort.busy[cpu] / o->effort.all[cpu] : 0;
}

/* "CPUs 0, 1" */
static const char *cpus_text(uint64_t cpus)
{
	const char *list = "";

	for (unsigned cpu = 0; cpu < 64; cpu++)
		if (cpus >> cpu & 1)
			list = text("%s%s%u", list, *list ? ", " : "", cpu);
	return text("CPU%s %s", cpus & (cpus - 1) ? "s" : "", list);
}

static uint64_t cpus_full(const struct outcome *o)
{
	uint64_t cpus = 0;

	for (unsigned cpu = 0; cpu < o->effort.cpus && cpu < 64; cpu++)
		if (busy(o, cpu) >= BUSY)
			cpus |= 1ull << cpu;
	return cpus;
}

/* All packets of a stage: those sent, or if other hosts send, those arrived and lost. */
static double whole(const struct outcome *o, unsigned stage)
{
	return account_sum(o, stage, ACCOUNT_SENT) ?: account_sum(o, stage, ACCOUNT_LOST) +
						      account_sum(o, stage, ACCOUNT_ARRIVED);
}

/* The largest loss of the account, if it exceeds MANY. */
static const struct account *loss(const struct outcome *o)
{
	const struct account *most = NULL;

	for (unsigned i = 0; i < o->lines; i++) {
		const struct account *a = &o->account[i];

		if (a->kind == ACCOUNT_LOST && a->packets > MANY * whole(o, a->stage) &&
		    (!most || a->packets > most->packets))
			most = a;
	}
	return most;
}

static double share_of(const struct outcome *o, const struct account *lost)
{
	return 100 * lost->packets / whole(o, lost->stage);
}

/* The fully busy CPUs and their work. */
static const char *cpus_limit(const struct outcome *o, uint64_t sending)
{
	uint64_t full = cpus_full(o), receiving = o->receiving;
	double most = 0;

	for (unsigned cpu = 0; cpu < o->effort.cpus; cpu++)
		most = busy(o, cpu) > most ? busy(o, cpu) : most;
	if (full & sending & receiving)
		return text("%s: fully busy with both sending and receiving",
			    cpus_text(full & sending & receiving));
	if (full & receiving)
		return text("%s: fully busy with receiving", cpus_text(full & receiving));
	if (full & sending)
		return text("the generator: %s fully busy", cpus_text(full & sending));
	if (full)
		return text("%s: fully busy", cpus_text(full));
	return text("not the CPUs: the busiest was %.0f%% busy", 100 * most);
}

void limit_find(const struct bench *b, struct outcome *o, uint64_t sending)
{
	const struct account *lost = loss(o);
	double others = o->others / (o->seconds * b->load.threads);
	const char *why;

	if (o->sockets)
		why = cpus_limit(o, 0);
	else if (!o->packets && !o->sent)
		why = "no packets received: other hosts send none";
	else if (!o->packets && !lost && o->scenario->transmits)
		why = text("no packets sent: is anything connected to %s?", b->port.label);
	else if (!o->packets && !lost)
		why = text("no packets received: is %s connected to %s?",
			   b->has_peer ? b->peer.label : "anything", b->port.label);
	else if (b->load.rate && o->sent > .98 * b->load.rate * o->seconds && !lost)
		why = "the requested rate";
	else if (lost && !o->packets)
		why = text("%s (%.0f%%)", lost->what, share_of(o, lost));
	else if (lost)
		why = text("%s (%.0f%%); %s", lost->what, share_of(o, lost),
			   cpus_limit(o, sending));
	else if (!o->sent && !(cpus_full(o) & o->receiving))
		why = text("the incoming rate, or losses that no counter shows; %s",
			   cpus_limit(o, 0));
	else if (others > MOST)
		why = text("other work, which took %.0f%% of the sending CPUs", 100 * others);
	else
		why = cpus_limit(o, sending);
	if (others > OTHERS && others <= MOST)
		why = text("%s; other work took %.0f%% of the sending CPUs", why, 100 * others);
	snprintf(o->limit, sizeof(o->limit), "%s", why);
}
