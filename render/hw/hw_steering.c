/* SPDX-License-Identifier: GPL-2.0 */
/* The table of RSS, offloads, NAPI settings and packet steering. */
#include <linux/ethtool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/log.h"
#include "render/hw/hw.h"
#include "render/units.h"

/* The share of each queue in the RSS table, unless all are equal. */
static void shares(struct page *p, const struct hw *h)
{
	unsigned queues = h->iface.rx_queues, used = 0, said = 0;
	unsigned *nr = calloc(queues + 1, sizeof(*nr));
	bool equal = true;

	for (unsigned i = 0; nr && i < h->rss.nr; i++)
		if (h->rss.table[i] < queues)
			nr[h->rss.table[i]]++;
	for (unsigned i = 0, last = 0; nr && i < queues; i++) {
		used += !!nr[i];
		/* 128 entries cannot be split evenly among 3 queues: a difference of 1 is equal */
		equal &= !nr[i] || !last || (nr[i] <= last + 1 && last <= nr[i] + 1);
		if (nr[i])
			last = nr[i];
	}
	page_wrap(p, HW_COLUMN, text(" for %u of %u queues, %s", used, queues,
				     equal ? "equal shares" : "unequal shares:"));
	for (unsigned i = 0; nr && !equal && i < queues && said < 16; i++)
		if (nr[i])
			page_wrap(p, HW_COLUMN, text("%s q%u %u%%", said++ ? "," : "", i,
						  (100 * nr[i] + h->rss.nr / 2) / h->rss.nr));
	if (!equal && said < used)
		page_wrap(p, HW_COLUMN, ", …");
	free(nr);
}

static const char *hashes(long long bits)
{
	bool ip = bits & (RXH_IP_SRC | RXH_IP_DST), l4 = bits & (RXH_L4_B_0_1 | RXH_L4_B_2_3);

	return ip && l4 ? "addresses and ports" : ip ? "addresses" : l4 ? "ports" : "other fields";
}

/* "addresses and ports of tcp4 tcp6, addresses of udp4": protocols with equal fields together. */
static void hashed(struct page *p, const struct rss *r)
{
	bool said[NR_HASHED] = {};

	for (unsigned i = 0; i < NR_HASHED; i++) {
		const char *names = hashed_names[i];

		if (said[i] || r->hashed[i] <= 0)	/* no fields: no RSS for the protocol */
			continue;
		for (unsigned k = i + 1; k < NR_HASHED; k++)
			if (r->hashed[k] == r->hashed[i]) {
				names = text("%s %s", names, hashed_names[k]);
				said[k] = true;
			}
		if (!p->at)
			hw_key(p, "RSS hashes");
		hw_item(p, text("%s of %s", hashes(r->hashed[i]), names));
	}
	page_end(p);
}

static void rss(struct page *p, const struct hw *h)
{
	const struct rss *r = &h->rss;

	if (!r->err) {
		hw_key(p, "RSS");
		hw_item(p, r->function);
		hw_item(p, r->symmetric ? "symmetric" : "");
		if (r->nr) {
			hw_item(p, text("%u entries", r->nr));
			shares(p, h);
		}
		if (r->rules > 0)
			hw_item(p, text("%lld rule%s of ethtool -N before it", r->rules,
				     r->rules == 1 ? "" : "s"));
		page_newline(p);
	}
	hashed(p, r);
	if (!r->key_size)
		return;
	hw_key(p, "RSS key");
	for (unsigned i = 0; i < r->key_size; i += 8) {
		char word[20] = " ";

		for (unsigned k = i; k < i + 8 && k < r->key_size; k++)
			sprintf(word + strlen(word), "%02x", r->key[k]);
		page_wrap(p, HW_COLUMN, word + !i);
	}
	page_newline(p);
}

/* The "tcp6" of "tx-tcp6-segmentation"; "": another name. */
static const char *segments(const char *name)
{
	static const char end[] = "-segmentation";
	size_t len = strlen(name);

	if (strncmp(name, "tx-", 3) || len < sizeof(end) + 3 ||
	    strcmp(name + len - strlen(end), end))
		return "";
	return text("%.*s", (int)(len - strlen(end) - 3), name + 3);
}

/* Does feature `i` have these flags, and is it (or is it not) one of tx-…-segmentation? */
static bool those(const struct hw *h, unsigned i, unsigned mask, unsigned want, bool segmentation)
{
	const struct ethtool_feature *f = &h->features.list[i];

	return (f->is & mask) == want && !*segments(f->name) == !segmentation;
}

/* Several features of tx-…-segmentation are one item: "tx-{tcp tcp6 udp}-segmentation". */
static void offloads(struct page *p, const struct hw *h, const char *key, unsigned mask,
		     unsigned want)
{
	bool more = false;
	unsigned last = 0, nr = 0;

	for (unsigned i = 0; i < h->features.nr; i++)
		if (those(h, i, mask, want, true)) {
			last = i;
			nr++;
		}
	for (unsigned i = 0; i < h->features.nr; i++) {
		if (!those(h, i, mask, want, false) && (nr > 1 || !those(h, i, mask, want, true)))
			continue;
		if (!p->at)
			hw_key(p, key);
		hw_item(p, h->features.list[i].name);
	}
	for (unsigned i = 0; i < h->features.nr; i++) {
		const char *name = text("%s%s", segments(h->features.list[i].name),
					i == last ? "}-segmentation" : "");

		if (nr < 2 || !those(h, i, mask, want, true))
			continue;
		if (!p->at)
			hw_key(p, key);
		if (more)
			page_wrap(p, HW_COLUMN, text(" %s", name));
		else
			hw_item(p, text("tx-{%s", name));
		more = true;
	}
	page_end(p);
}

static const char *duration(double seconds)
{
	char time[UNITS_SIZE];

	units_seconds(time, seconds);
	return text("%s", time);
}

/* NAPI instances whose settings differ from those of the interface (possible since 6.13). */
static void napi_own(struct page *p, const struct hw *h, const struct napi_instance *n)
{
	if (n->defer_hard_irqs == h->defer_hard_irqs && n->gro_flush_ns == h->gro_flush_ns &&
	    n->irq_suspend_ns <= 0 && n->threaded == (h->threaded ? NAPI_IN_THREAD :
						      NAPI_IN_SOFTIRQ))
		return;
	if (n->defer_hard_irqs < 0 && n->threaded == (h->threaded ? NAPI_IN_THREAD :
						      NAPI_IN_SOFTIRQ))
		return;
	hw_key(p, "");
	hw_item(p, text("%u: %s", n->id, n->threaded == NAPI_IN_BUSY_THREAD ?
		     text("busy-polled by thread %u", n->pid) : n->threaded ?
		     text("polled by thread %u", n->pid) : "polled in softirqs"));
	if (n->defer_hard_irqs > 0)
		hw_item(p, text("napi_defer_hard_irqs %lld", n->defer_hard_irqs));
	if (n->gro_flush_ns > 0)
		hw_item(p, text("gro_flush_timeout %s", duration(n->gro_flush_ns * 1e-9)));
	if (n->irq_suspend_ns > 0)
		hw_item(p, text("irq_suspend_timeout %s",
				duration(n->irq_suspend_ns * 1e-9)));
	page_newline(p);
}

static void napi(struct page *p, const struct hw *h)
{
	const struct napis *n = &h->napis;

	hw_key(p, "NAPI");
	if (n->nr)
		hw_item(p, text("%u instance%s", n->nr, n->nr == 1 ? "" : "s"));
	hw_item(p, h->threaded ? "polls in threads" : "polls in softirqs");
	if (h->defer_hard_irqs > 0 || h->gro_flush_ns > 0)
		hw_item(p, text("napi_defer_hard_irqs %lld, gro_flush_timeout %s",
			     h->defer_hard_irqs, duration(h->gro_flush_ns * 1e-9)));
	else if (h->defer_hard_irqs == 0)
		hw_item(p, "interrupts not deferred");
	if (h->busy_poll_us > 0 || h->busy_read_us > 0)
		hw_item(p, text("busy_poll %lld us, busy_read %lld us", h->busy_poll_us,
			     h->busy_read_us));
	else if (h->busy_poll_us == 0)
		hw_item(p, "no busy polling unless set by a socket");
	page_newline(p);
	for (unsigned i = 0; i < n->nr; i++)
		napi_own(p, h, &n->list[i]);
}

/* Whether RPS, XPS and RFS are on; the table of queues has their CPUs. */
static void steering(struct page *p, const struct hw *h)
{
	bool rps = false, xps = false;

	for (unsigned i = 0; i < h->nr; i++) {
		rps |= cpus_next(&h->lines[i].rps, -1) >= 0;
		xps |= cpus_next(&h->lines[i].xps, -1) >= 0;
	}
	hw_key(p, "steering");
	hw_item(p, rps ? "RPS on" : "RPS off");
	hw_item(p, xps ? "XPS on" : "XPS off");
	hw_item(p, h->rfs_entries > 0 ? text("RFS with %lld entries", h->rfs_entries) :
		h->rfs_entries == 0 ? "RFS off" : "");
	page_newline(p);
}

void hw_steering_table(struct page *p, const struct hw *h)
{
	rss(p, h);
	offloads(p, h, "offloads on", FEATURE_ON | FEATURE_CAN, FEATURE_ON | FEATURE_CAN);
	offloads(p, h, "  and fixed", FEATURE_ON | FEATURE_CAN, FEATURE_ON);
	offloads(p, h, "  off", FEATURE_ON | FEATURE_CAN | FEATURE_WANTED, FEATURE_CAN);
	offloads(p, h, "  requested", FEATURE_ON | FEATURE_CAN | FEATURE_WANTED,
		 FEATURE_CAN | FEATURE_WANTED);
	napi(p, h);
	steering(p, h);
}
