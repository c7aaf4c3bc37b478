/* SPDX-License-Identifier: GPL-2.0 */
/* The outcome of a benchmark as text: the rate, the limit, then where every packet went. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cmd/bench.h"
#include "cmd/cmd.h"
#include "lib/util/list.h"
#include "lib/util/log.h"
#include "render/text.h"
#include "render/units.h"

#define INDENT	14

/* "  limit       CPU 0: …": a word, then sentences in the second column, wrapped within it. */
static void line(struct page *p, const char *word, const char *what)
{
	page_spaces(p, 2);
	page_style(p, STYLE_DIM);
	page_put(p, word, -1);
	page_style(p, STYLE_PLAIN);
	page_spaces(p, INDENT - p->at);
	page_wrap(p, INDENT, what);
	page_newline(p);
}

static const char *count(double x)
{
	char n[UNITS_SIZE];

	units_count(n, x);
	return text("%s", n);
}

static const char *bits(double x)
{
	char n[UNITS_SIZE];
	size_t digits;

	units_count(n, x);
	digits = strspn(n, "0123456789.<");
	return text("%.*s %sbit/s", (int)digits, n, n + digits);
}

static const char *known(double x)
{
	return isnan(x) ? "-" : count(x);
}

static const char *seconds(double x)
{
	char n[UNITS_SIZE];

	units_seconds(n, x);
	return text("%s", n);
}

static double figure_of(const struct result *r, const char *name)
{
	for (int i = 0; i < r->nr; i++)
		if (!strcmp(r->figure[i].name, name))
			return r->figure[i].value;
	return NAN;
}

static double figure(const struct result *r, const struct outcome *o, const char *name)
{
	return figure_of(r, text("%s %s", o->scenario->name, name));
}

static void headline(struct page *p, const struct outcome *o, const struct result *r)
{
	double packets = figure(r, o, "packets_per_second");
	double carried = figure(r, o, "bits_per_second");
	double ns = figure(r, o, "ns_per_packet");
	const char *cpu = "";

	page_style(p, STYLE_BOLD);
	page_put(p, o->scenario->name, -1);
	page_style(p, STYLE_PLAIN);
	page_spaces(p, INDENT - p->at);
	/* for sockets, throughput comes first: the number of packets depends on offloads */
	if (!isnan(ns))
		cpu = text("; %s of CPU time per %s", seconds(ns * 1e-9),
			   o->sockets ? "buffer" : "packet");
	if (o->sockets)
		page_wrap(p, INDENT, text("%s, in %s buffers/s%s", bits(carried), count(packets),
					  cpu));
	else
		page_wrap(p, INDENT, text("%s packets/s, %s%s", count(packets), bits(carried),
					  cpu));
	page_newline(p);
}

/* "q0 1.3M/s, q1 1.2M/s": queues and CPUs with packets; CPUs with their utilisation. */
static void places(struct page *p, const struct outcome *o)
{
	const uint64_t *queue = o->places ? o->seen.queue : o->where.queue;
	const uint64_t *cpu = o->places ? o->seen.cpu : o->where.cpu;
	double seconds = o->places ? o->metered_seconds : o->seconds;
	const char *queues = "", *cpus = "";

	for (unsigned i = 0; i < TRAFFIC_QUEUES; i++)
		if (queue[i] && strlen(queues) < 300)
			queues = text("%s%sq%u %s/s", queues, *queues ? ", " : "", i,
				      count(queue[i] / seconds));
	for (unsigned i = 0; i < TRAFFIC_CPUS; i++)
		if (cpu[i] && strlen(cpus) < 300)
			cpus = text("%s%scpu%u %s/s (%.0f%% busy)", cpus, *cpus ? ", " : "", i,
				    count(cpu[i] / seconds), o->effort.all[i] ?
				    100. * o->effort.busy[i] / o->effort.all[i] : 0);
	if (*queues)
		line(p, "queues", *o->queues_of ? text("%s, of %s", queues, o->queues_of) : queues);
	if (*cpus)
		line(p, "CPUs", cpus);
}

static void costs(struct page *p, const struct bench *b, const struct outcome *o,
		  const struct result *r)
{
	double polls = figure(r, o, "polls_per_packet"), ns = figure(r, o, "poll_ns_per_packet");
	double irqs = figure(r, o, "interrupts_per_packet");

	if (b->pmus.nr)
		line(p, "per packet", text("%s cycles, %s instructions, %s cache misses",
					 known(figure(r, o, "cycles_per_packet")),
					 known(figure(r, o, "instructions_per_packet")),
					 known(figure(r, o, "cache_misses_per_packet"))));
	if (polls > 0)
		line(p, "polls", text("%s per packet%s", count(polls), isnan(ns) ? "" :
				      text("; %s per packet spent in polls",
					   seconds(ns * 1e-9))));
	if (!isnan(irqs))
		line(p, "interrupts", text("%s per packet", count(irqs)));
	if (!isnan(figure(r, o, "completion_p50_ns")))
		line(p, "completed", text("after %s (p50), %s (p99)",
					  seconds(o->seen.p50), seconds(o->seen.p99)));
}

static void account(struct page *p, const struct outcome *o)
{
	static const char *const sign[] = {
		[ACCOUNT_SENT] = "", [ACCOUNT_LOST] = "- ", [ACCOUNT_ARRIVED] = "= ",
		[ACCOUNT_UNEXPLAINED] = "? ",
	};
	ONE_EACH(sign, NR_ACCOUNTS);

	for (unsigned i = 0; i < o->lines; i++) {
		const struct account *a = &o->account[i];

		line(p, i ? "" : "account",
		     text("%2s%11" PRId64 "%s  %s", sign[a->kind], a->packets,
			  o->sockets ? " bytes" : "", a->what));
	}
	for (unsigned i = 0; i < o->seen.drops; i++)
		line(p, i ? "" : "skb drops", text("%13" PRIu64 "  %s, %s", o->seen.drop[i].packets,
						 o->seen.drop[i].reason, o->seen.drop[i].where));
	if (o->seen.drops)
		line(p, "", text("in the last third of the time, with meters attached%s",
				 o->seen.polled > 0 ? text("; polls took %.0f packets",
							   o->seen.polled) : ""));
}

static void outcome(struct page *p, const struct bench *b, const struct outcome *o)
{
	static struct result r;

	if (*o->cannot) {
		page_style(p, STYLE_BOLD);
		page_put(p, o->scenario->name, -1);
		page_style(p, STYLE_PLAIN);
		page_spaces(p, INDENT - p->at);
		page_wrap(p, INDENT, text("not here: %s", o->cannot));
		page_newline(p);
		return;
	}
	r.nr = 0;
	outcome_figures(b, o, &r);
	headline(p, o, &r);
	line(p, "limit", o->limit);
	line(p, "sent by", o->how);
	places(p, o);
	costs(p, b, o, &r);
	account(p, o);
	for (int i = 0; i < REMARKS_MAX; i++)
		if (*o->remark[i])
			line(p, "note", o->remark[i]);
}

static void introduction(struct page *p, const struct bench *b)
{
	const struct iface *i = &b->port.iface;

	page_style(p, STYLE_BOLD);
	page_put(p, b->port.label, -1);
	page_style(p, STYLE_PLAIN);
	page_wrap(p, 2, text("  %s, %u rx and %u tx queue%s; %s", i->driver, i->rx_queues,
			     i->tx_queues, i->rx_queues + i->tx_queues > 2 ? "s" : "",
			     b->has_peer ? text("the peer is %s%s", b->peer.label, b->peer_found ?
						", its other end" : "") :
			     "no peer: where sent packets arrive is unknown"));
	page_newline(p);
}

/* One line for each figure that is unavailable, rather than one per scenario. */
static void absences(struct page *p, const struct bench *b)
{
	const char *no[3] = { "", "", "" };

	for (unsigned i = 0; i < b->outcomes; i++) {
		const struct outcome *o = &b->outcome[i];

		if (o->metered && *o->seen.no_polls)
			no[0] = o->seen.no_polls;
		if (o->metered && *o->seen.no_interrupts)
			no[1] = o->seen.no_interrupts;
		if (o->metered && *o->seen.no_completions)
			no[2] = o->seen.no_completions;
	}
	if (!b->pmus.nr)
		line(p, "absent", text("cycles, instructions, cache misses: %s", b->pmus.why));
	if (*no[0])
		line(p, "absent", text("polls: %s", no[0]));
	if (*no[1])
		line(p, "absent", text("interrupts: %s", no[1]));
	if (*no[2])
		line(p, "absent", text("completion: %s", no[2]));
}

void bench_print(FILE *out, const struct bench *b)
{
	struct page p = terminal_page(out, 40);

	introduction(&p, b);
	for (unsigned i = 0; i < b->outcomes; i++) {
		page_newline(&p);
		outcome(&p, b, &b->outcome[i]);
	}
	page_newline(&p);
	absences(&p, b);
}
