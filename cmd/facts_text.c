/* SPDX-License-Identifier: GPL-2.0 */
/* What is known about a driver, as text. */
#include <string.h>

#include "cmd/facts.h"
#include "lib/util/log.h"

#define NAMES	15	/* columns where names and their states begin */
#define STATES	46

static void row(struct page *p, const char *key, unsigned column, const char *what)
{
	page_spaces(p, 2);
	page_put(p, key, -1);
	page_spaces(p, p->at + 1 < column ? column - p->at : 1);
	page_wrap(p, column, what);
	page_newline(p);
}

static void fact(struct page *p, const char *key, const char *what)
{
	if (what && *what)
		row(p, key, NAMES, what);
}

static void title(struct page *p, const char *what)
{
	page_newline(p);
	page_style(p, STYLE_BOLD);
	page_wrap(p, 2, what);
	page_style(p, STYLE_PLAIN);
	page_newline(p);
}

/* The attach methods that can trace a function: "fentry, kprobe"; or fewer, and why. */
static const char *ways(const struct facts *f, const struct verdict *v)
{
	bool fentry = !f->no_fentry && v->spot.fentry, kprobe = !f->no_kprobe && v->spot.kprobe;
	const char *why = v->spot.why;

	if (f->no_kprobe && f->no_fentry)
		return "present";
	if (fentry)
		return kprobe ? "fentry, kprobe" : "fentry";
	if (kprobe)
		return *why && !f->no_fentry ? text("kprobe; no fentry: %s", why) : "kprobe";
	return *why ? text("not traceable: %s", why) : "present";
}

static const char *state(const struct facts *f, const struct verdict *v, const char *range)
{
	const char *why = *v->spot.why ? text(": %s", v->spot.why) : "";

	if (!v->asked)
		return range;
	if (v->there)
		return ways(f, v);
	if (v->expected)
		return text("MISSING%s", why);
	return *range ? text("%s: not here", range) : "not here";
}

/* Puts the state at the end of a line; continuation lines are indented by left + 2. */
static void say(struct page *p, const struct verdict *v, unsigned left, const char *what)
{
	bool bad = v->asked && v->expected && !v->there;

	if (*what) {
		page_spaces(p, p->at + 2 < STATES ? STATES - p->at : 2);
		page_style(p, bad ? STYLE_YELLOW : STYLE_PLAIN);
		page_wrap(p, left + 2, what);
		page_style(p, STYLE_PLAIN);
	}
	page_newline(p);
}

static void name(struct page *p, struct facts *f, const struct driver_name *n,
		 struct verdict (*ask)(struct facts *, const struct driver_name *), bool first)
{
	const char *range = facts_range(n->since, n->until);
	struct verdict v = ask(f, n);
	const char *said;

	if (!v.asked && n->module)
		range = text("%s%sin %s", range, *range ? ", " : "", n->module);
	said = ask == facts_function || !v.there ? state(f, &v, range) : "present";
	page_spaces(p, 2);
	page_put(p, first ? does_text[n->does] : "", -1);
	page_spaces(p, NAMES - p->at);
	page_put(p, n->name, -1);
	say(p, &v, NAMES, said);
}

static void names(struct page *p, struct facts *f, const struct driver_name *list,
		  struct verdict (*ask)(struct facts *, const struct driver_name *),
		  const char *heading)
{
	const struct driver_name *last = NULL;

	for (const struct driver_name *n = list; n && n->name; n++) {
		if (!facts_name(f, n))
			continue;
		if (!last)
			title(p, heading);
		name(p, f, n, ask, !last || last->does != n->does);
		last = n;
	}
}

static void stat(struct page *p, struct facts *f, const struct driver_stat *s, bool first)
{
	const char *range = facts_range(s->since, s->until);
	struct verdict v = facts_stat(f, s);
	const char *said = v.asked && v.there ? "" : state(f, &v, range);

	page_spaces(p, 2);
	page_put(p, first ? s->as : "", -1);
	page_spaces(p, 18 - p->at);
	page_put(p, facts_pattern(s->name), -1);
	if (first && !(v.asked && *said))
		said = text("%s%s%s", stat_find(s->as)->help, *said ? "; " : "", said);
	say(p, &v, STATES, said);
}

static void stats(struct page *p, struct facts *f)
{
	const struct driver_stat *last = NULL;

	if (!f->driver->stats || !facts_own(f))
		return;
	title(p, "statistics (ethtool -S), by nicprobe's name for them");
	for (const struct driver_stat *s = f->driver->stats; s->name; last = s++)
		stat(p, f, s, !last || strcmp(last->as, s->as));
	if (f->driver->stats_how)
		row(p, "note:", 8, f->driver->stats_how);
}

static void irqs(struct page *p, struct facts *f)
{
	for (unsigned i = 0; i < MAX_PATTERNS && f->driver->irqs[i]; i++) {
		struct verdict v = facts_irq(f, i);
		const char *said = state(f, &v, facts_range(f->driver->irqs_since[i],
							    f->driver->irqs_until[i]));

		page_spaces(p, 2);
		page_put(p, i ? "" : "interrupts", -1);
		page_spaces(p, NAMES - p->at);
		page_put(p, facts_pattern(f->driver->irqs[i]), -1);
		say(p, &v, NAMES, v.there ? "" : said);
	}
	fact(p, *f->driver->irqs ? "" : "interrupts", f->driver->irqs_how);
}

static void completion(struct page *p, const struct driver *d)
{
	if (d->no_completion)
		fact(p, "completes", text("never: %s", d->no_completion));
	else if (d->completes)
		fact(p, "completes", text("%s; traced as %s%s", d->completes, d->kfree_completes ?
					  "kfree_skb, as if dropped" : "consume_skb",
					  d->frees_in_tasks ? ", in tasks alone" : ""));
	if (d->takes_all_before)
		fact(p, "xmit", text("before %u.%u it takes or drops each packet, and stops no "
				     "queue", d->takes_all_before >> 8,
				     d->takes_all_before & 0xff));
	if (d->gives_back_since)
		fact(p, "xmit", text("since %u.%u, with a queueing discipline, it may give a "
				     "packet back, or stop its queue", d->gives_back_since >> 8,
				     d->gives_back_since & 0xff));
}

static void xdp(struct page *p, const struct driver *d)
{
	const char *since = d->xdp_since ? text("native since %u.%u; ", d->xdp_since >> 8,
						d->xdp_since & 0xff) : "";

	if (d->no_xdp)
		fact(p, "XDP", "generic only");
	else
		fact(p, "XDP", text("%sattaching it %s%s%s", since, d->xdp ?: "disturbs nothing",
				    d->xdp_takes ? "; it takes " : "", d->xdp_takes ?: ""));
	if (d->xdp_needs)
		fact(p, "XDP needs", d->xdp_needs);
}

void facts_text(struct page *p, struct facts *f)
{
	const struct driver *d = f->driver;

	if (facts_own(f)) {
		irqs(p, f);
		fact(p, "rx queue", facts_rx_queue[d->rx_queue]);
		completion(p, d);
		if (d->bytes.tx) {
			fact(p, "rx bytes", facts_received(d));
			fact(p, "tx bytes", facts_sent(d));
			fact(p, "bytes", d->bytes.but);
		}
		xdp(p, d);
	}
	names(p, f, d->functions, facts_function, "functions");
	names(p, f, d->tracepoints, facts_tracepoint, "tracepoints");
	if (facts_own(f) && d->functions && !d->tracepoints) {
		title(p, "tracepoints");
		page_spaces(p, 2);
		page_wrap(p, 2, "none");
		page_newline(p);
	}
	stats(p, f);
}
