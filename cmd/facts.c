/* SPDX-License-Identifier: GPL-2.0 */
/* Compares what is known about a driver with a module file or the running kernel. */
#include <stdio.h>
#include <string.h>

#include "cmd/facts.h"
#include "lib/trace/module.h"
#include "lib/trace/running.h"
#include "lib/util/list.h"
#include "lib/util/log.h"

const char *const facts_rx_queue[] = {
	[RX_QUEUE_RECORDED] = "recorded in each packet",
	[RX_QUEUE_BY_NAPI] = "not recorded in packets; derived from the NAPI id",
	[RX_QUEUE_RAW] = "the TX queue that the sender chose",
};
ONE_EACH(facts_rx_queue, NR_RX_QUEUES);

bool facts_own(const struct facts *f)
{
	return !f->only || !strcmp(f->only, f->driver->name);
}

bool facts_name(const struct facts *f, const struct driver_name *n)
{
	return !f->only || !strcmp(f->only, n->module ?: f->driver->name);
}

bool facts_functions(const struct facts *f)
{
	for (const struct driver_name *n = f->driver->functions; n && n->name; n++)
		if (facts_name(f, n))
			return true;
	return false;
}

static struct verdict judge(struct facts *f, struct spot spot, unsigned since, unsigned until)
{
	struct verdict v = {
		.asked = true, .there = spot.there, .spot = spot,
		.expected = version_has(f->version, since, until),
	};

	f->missing += v.expected && !v.there;
	return v;
}

struct verdict facts_function(struct facts *f, const struct driver_name *n)
{
	if (f->module)
		return judge(f, module_function(f->module, n->name), n->since, n->until);
	if (f->running)
		return judge(f, running_function(f->running, n->name), n->since, n->until);
	return (struct verdict){};
}

struct verdict facts_tracepoint(struct facts *f, const struct driver_name *n)
{
	if (f->module)
		return judge(f, module_tracepoint(f->module, n->name), n->since, n->until);
	if (f->running)
		return judge(f, running_tracepoint(f->running, n->name), n->since, n->until);
	return (struct verdict){};
}

/* A pattern filled in for queue 0; parts that are not in the module's strings become "?". */
static const char *example(const char *pattern)
{
	static char out[128];
	size_t len = 0;

	/* the name's prefix ("virtio3-") comes from another module: match only the rest */
	if (*pattern == '*')
		pattern += 2;
	for (; *pattern && len < sizeof(out) - 1; pattern++) {
		char c = *pattern == '*' ? '?' : *pattern;

		if (c == '%')
			c = *++pattern == 'i' ? '?' : '0';
		if (c != '0' || *pattern != 'a')
			out[len++] = c;
	}
	out[len] = '\0';
	return out;
}

struct verdict facts_stat(struct facts *f, const struct driver_stat *s)
{
	struct spot spot = {};

	if (!f->module)
		return (struct verdict){};
	spot.there = module_says(f->module, example(s->name));
	return judge(f, spot, s->since, s->until);
}

struct verdict facts_irq(struct facts *f, unsigned i)
{
	const char *pattern = f->driver->irqs[i];
	bool others = *pattern == '*';	/* another module makes the prefix, or all of the name */
	struct spot spot = {};

	if (!f->module)
		return (struct verdict){};
	spot.there = module_says(f->module, example(pattern));
	if (others && !spot.there)
		return (struct verdict){};
	return judge(f, spot, f->driver->irqs_since[i], f->driver->irqs_until[i]);
}

const char *facts_pattern(const char *pattern)
{
	static char out[128];
	size_t len = 0;

	for (; *pattern && len < sizeof(out) - 8; pattern++)
		if (*pattern != '%')
			out[len++] = *pattern;
		else if (*++pattern == 'i')
			len += sprintf(out + len, "IFACE");
		else if (*pattern != 'a')
			out[len++] = 'N';
	out[len] = '\0';
	return out;
}

static const char *version(unsigned v)
{
	return text("%u.%u", v >> 8, v & 0xff);
}

const char *facts_range(unsigned since, unsigned until)
{
	if (since && until)
		return text("only from %s to %s", version(since), version(until));
	return since ? text("only since %s", version(since)) :
	       until ? text("only until %s", version(until)) : "";
}

const char *facts_received(const struct driver *d)
{
	int more = d->bytes.rx_more;

	return text("skb->len before GRO%s: frames %s", more ? text(" + %d", more) : "",
		    more == 0 ? "without Ethernet header and FCS" :
		    more == 14 ? "without FCS" : "with FCS");
}

const char *facts_sent(const struct driver *d)
{
	static const char *const how[] = {
		[TX_BUFFERS] = "skb->len, and 1 packet, whatever is segmented later",
		[TX_WIRE] = "skb->len + (segments - 1) * headers, as many packets as segments: "
			    "frames without FCS",
		[TX_LINEAR] = "skb->len + (segments - 1) * skb_headlen, as many packets as "
			      "segments: frames without FCS, if only headers are linear",
		[TX_CARD] = "frames on the wire, by the card",
	};
	ONE_EACH(how, NR_TX_BYTES);
	const char *least = d->bytes.tx_least ? text("; %u at least", d->bytes.tx_least) : "";

	return text("%s%s; counted at %s", how[d->bytes.tx], least, d->bytes.when);
}
