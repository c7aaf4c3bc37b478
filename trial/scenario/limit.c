/* SPDX-License-Identifier: GPL-2.0 */
/* What kept it from being more: where packets were lost, and how busy the CPUs were. */
#include <stdio.h>
#include <string.h>

#include "lib/util/log.h"
#include "trial/scenario/suite.h"

#define BUSY	.9		/* of its time: such a CPU has no more to give */
#define OTHERS	.05		/* of the time of the CPUs: somebody else does something */
#define MOST	.25		/* …and so much that it is what matters */
#define MANY	.01		/* of the packets: lost not by accident */

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

/* What a stage began with: as sent, or where somebody else sends as arrived and lost. */
static double whole(const struct outcome *o, unsigned stage)
{
	double sent = 0, known = 0;

	for (unsigned i = 0; i < o->lines; i++) {
		const struct account *a = &o->account[i];

		if (a->stage == stage && a->kind == ACCOUNT_SENT)
			sent = a->packets;
		if (a->stage == stage && (a->kind == ACCOUNT_LOST || a->kind == ACCOUNT_ARRIVED))
			known += a->packets;
	}
	return sent ?: known;
}

/* The largest loss of the account, if it is many. */
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

/* Which CPUs had no more to give, and what for. */
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
	return text("not the CPUs: the busiest was so for %.0f%% of the time", 100 * most);
}

void limit_find(const struct bench *b, struct outcome *o, uint64_t sending)
{
	const struct account *lost = loss(o);
	double others = o->others / (o->seconds * b->load.threads);
	const char *why;

	if (o->sockets)
		why = cpus_limit(o, 0);
	else if (!o->packets && !o->sent)
		why = "nothing came: nobody sends to it";
	else if (!o->packets && !lost && o->scenario->transmits)
		why = text("nothing is sent: does anybody take what %s has to send?",
			   b->port.label);
	else if (!o->packets && !lost)
		why = text("nothing arrives: is %s really at the other end of %s?",
			   b->has_peer ? b->peer.label : "anybody", b->port.label);
	else if (b->load.rate && o->sent > .98 * b->load.rate * o->seconds && !lost)
		why = "the rate that was asked for";
	else if (lost && !o->packets)
		why = text("%s (%.0f%%)", lost->what, share_of(o, lost));
	else if (lost)
		why = text("%s (%.0f%%); %s", lost->what, share_of(o, lost),
			   cpus_limit(o, sending));
	else if (!o->sent && !(cpus_full(o) & o->receiving))
		why = text("what comes, and what is lost where nobody counts; %s",
			   cpus_limit(o, 0));
	else if (others > MOST)
		why = text("other work, which had %.0f%% of the CPUs that send", 100 * others);
	else
		why = cpus_limit(o, sending);
	if (others > OTHERS && others <= MOST)
		why = text("%s; other work had %.0f%% of the CPUs that send", why, 100 * others);
	snprintf(o->limit, sizeof(o->limit), "%s", why);
}
