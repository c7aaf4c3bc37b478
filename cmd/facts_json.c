/* SPDX-License-Identifier: GPL-2.0 */
/* What is known about a driver, as JSON. */
#include "cmd/facts.h"
#include "lib/util/log.h"

static void maybe(struct json *j, const char *key, const char *value)
{
	if (value && *value)
		json_string(j, key, value);
}

static void version(struct json *j, const char *key, unsigned v)
{
	if (v)
		json_string(j, key, text("%u.%u", v >> 8, v & 0xff));
}

static void verdict(struct json *j, const struct verdict *v)
{
	if (!v->asked)
		return;
	json_bool(j, "expected", v->expected);
	json_bool(j, "there", v->there);
	maybe(j, "why", v->spot.why);
}

static void names(struct json *j, const char *key, struct facts *f,
		  const struct driver_name *list,
		  struct verdict (*ask)(struct facts *, const struct driver_name *))
{
	json_open(j, key, '[');
	for (const struct driver_name *n = list; n && n->name; n++) {
		struct verdict v;

		if (!facts_name(f, n))
			continue;
		v = ask(f, n);
		json_open(j, NULL, '{');
		json_string(j, "name", n->name);
		json_string(j, "does", does_text[n->does]);
		json_string(j, "module", n->module ?: f->driver->name);
		version(j, "since", n->since);
		version(j, "until", n->until);
		verdict(j, &v);
		if (v.asked && ask == facts_function) {
			json_bool(j, "fentry", v.spot.fentry && !f->no_fentry);
			json_bool(j, "kprobe", v.spot.kprobe && !f->no_kprobe);
		}
		json_close(j);
	}
	json_close(j);
}

static void irqs(struct json *j, struct facts *f)
{
	json_open(j, "interrupts", '[');
	for (unsigned i = 0; i < MAX_PATTERNS && f->driver->irqs[i]; i++) {
		struct verdict v = facts_irq(f, i);

		json_open(j, NULL, '{');
		json_string(j, "name", facts_pattern(f->driver->irqs[i]));
		version(j, "since", f->driver->irqs_since[i]);
		version(j, "until", f->driver->irqs_until[i]);
		verdict(j, &v);
		json_close(j);
	}
	json_close(j);
	maybe(j, "interrupts_note", f->driver->irqs_how);
}

static void stats(struct json *j, struct facts *f)
{
	json_open(j, "statistics", '[');
	for (const struct driver_stat *s = f->driver->stats; s && s->name; s++) {
		struct verdict v = facts_stat(f, s);

		json_open(j, NULL, '{');
		json_string(j, "name", facts_pattern(s->name));
		json_string(j, "as", s->as);
		json_string(j, "help", stat_find(s->as)->help);
		version(j, "since", s->since);
		version(j, "until", s->until);
		verdict(j, &v);
		json_close(j);
	}
	json_close(j);
	maybe(j, "statistics_note", f->driver->stats_how);
}

static void own(struct json *j, struct facts *f)
{
	const struct driver *d = f->driver;

	irqs(j, f);
	json_string(j, "rx_queue", facts_rx_queue[d->rx_queue]);
	maybe(j, "completes", d->completes);
	maybe(j, "never_completes", d->no_completion);
	json_string(j, "completion_event", d->no_completion ? "none" :
		    d->kfree_completes ? "kfree_skb" : "consume_skb");
	json_bool(j, "completes_in_tasks", d->frees_in_tasks);
	version(j, "xmit_takes_all_before", d->takes_all_before);
	version(j, "xmit_gives_back_since", d->gives_back_since);
	if (d->bytes.tx) {
		json_string(j, "rx_bytes", facts_received(d));
		json_string(j, "tx_bytes", facts_sent(d));
		maybe(j, "bytes_note", d->bytes.but);
	}
	json_bool(j, "native_xdp", !d->no_xdp);
	version(j, "xdp_since", d->xdp_since);
	maybe(j, "xdp_does", d->xdp);
	maybe(j, "xdp_takes", d->xdp_takes);
	maybe(j, "xdp_needs", d->xdp_needs);
	stats(j, f);
}

void facts_json(struct json *j, struct facts *f)
{
	if (facts_own(f))
		own(j, f);
	names(j, "functions", f, f->driver->functions, facts_function);
	names(j, "tracepoints", f, f->driver->tracepoints, facts_tracepoint);
	if (f->no_fentry)
		json_string(j, "no_fentry", f->no_fentry);
	if (f->no_kprobe)
		json_string(j, "no_kprobe", f->no_kprobe);
}
