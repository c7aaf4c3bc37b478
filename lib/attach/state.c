/* SPDX-License-Identifier: GPL-2.0 */
/* What became of an interface since it was attached: renamed, moved, gone. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/attach/attach.h"
#include "lib/attach/pins.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"
#include "lib/net/here.h"
#include "lib/net/iface.h"
#include "lib/util/error.h"

struct moved {
	const struct meta *meta;
	struct iface now;
	char netns[64];
};

static bool same_address(const struct meta *meta, const struct iface *i)
{
	return meta->mac[7] && !memcmp(meta->mac, i->mac, sizeof(meta->mac));
}

/* A moved device keeps its address, and its ifindex unless that is taken in the new namespace. */
static bool is_here(const char *netns, void *arg)
{
	struct moved *m = arg;
	struct if_nameindex *list = if_nameindex();
	bool found = false;

	for (struct if_nameindex *i = list; i && i->if_index && !found; i++)
		found = !iface_read_index(i->if_index, &m->now, NULL) &&
			m->now.netns != m->meta->netns && same_address(m->meta, &m->now) &&
			!strcmp(m->now.driver, m->meta->driver);
	if (list)
		if_freenameindex(list);
	snprintf(m->netns, sizeof(m->netns), "%s", netns);
	return found;
}

void attached_state(const struct meta *meta, struct attached *a)
{
	struct moved m = { .meta = meta };
	struct iface *now = &m.now;
	struct error e = {};
	int err = netns_enter_same(meta->netns, meta->cookie, &e);
	char *state = a->state, dir[256];
	unsigned size = sizeof(a->state);

	iface_expect_queues(meta->rx_queues, meta->tx_queues);
	*a = (struct attached){};
	pins_dir(dir, sizeof(dir), meta->netns, meta->iface);
	if (err)
		a->is = err == -ESTALE ? ATTACHED_GONE : ATTACHED_UNKNOWN;
	if (err == -ESTALE) {
		snprintf(state, size, "its network namespace is gone, and another has its number; "
			 "these are its last figures");
	} else if (err == -EPERM) {
		snprintf(state, size, "its network namespace may be entered by root only: what "
			 "became of it, and what the kernel itself counts, is not seen");
	} else if (err == -ENOENT || err == -EINVAL) {
		snprintf(state, size, "its network namespace has no name, or is gone");
	} else if (err) {
		snprintf(state, size, "%.*s", (int)size - 1, e.what);
	} else if (meta->host) {
		return;
	} else if (!iface_read_index(meta->ifindex, now, NULL)) {
		a->iface = *now;
		if (pins_of_other(dir, meta, now->inode)) {
			a->is = ATTACHED_GONE;
			snprintf(state, size, "%s is gone, and another %s has its index; "
				 "detach, and attach again", meta->iface, now->name);
		} else if (strcmp(now->name, meta->iface)) {
			snprintf(state, size, "%s is called %s now", meta->iface, now->name);
		} else if (!now->queues_known) {
			return;
		} else if (meta->down) {
			a->rx_queues = now->up ? now->rx_queues : 0;
			a->tx_queues = now->up ? now->tx_queues : 0;
		} else if (now->rx_queues != meta->rx_queues || now->tx_queues != meta->tx_queues) {
			snprintf(state, size, "%s has %u rx and %u tx queues now; it had %u and %u",
				 now->name, now->rx_queues, now->tx_queues, meta->rx_queues,
				 meta->tx_queues);
		}
	} else if (netns_each(is_here, &m, NULL)) {
		a->is = ATTACHED_MOVED;
		snprintf(a->now, sizeof(a->now), "%s/%s", m.netns, now->name);
		snprintf(state, size, "%s moved to the network namespace %s, as %s: only XDP and "
			 "tcx count on; detach, and attach %s", meta->iface, m.netns, now->name,
			 a->now);
	} else {
		a->is = ATTACHED_GONE;
		if (iface_index_of(meta->iface))
			snprintf(state, size, "%s is gone, and another has its name; these are its "
				 "last figures; to measure the new one, attach again", meta->iface);
		else
			snprintf(state, size, "%s is gone (deleted, or in a namespace without a "
				 "name); these are its last figures", meta->iface);
	}
}

/* Whether a hook attached by this method moves along with its interface. */
static bool moves_along(const char *how)
{
	for (const struct hook *const *t = hooks; *t; t++)
		for (const char *const *h = (*t)->along; h && *h; h++)
			if (!strcmp(*h, how))
				return true;
	return false;
}

/* Why a point whose hook attached as `how` does not see every packet; NULL: it does. */
static const char *blind_at(const struct site *site, const struct attached *a, enum point point,
			    const char *how)
{
	const char *why = NULL;

	if (a->is == ATTACHED_GONE)
		return "the interface is gone";
	if (a->is == ATTACHED_MOVED && !moves_along(how))
		return "the hook stayed in the network namespace that the interface left";
	for (const struct hook *const *t = hooks; a->is == ATTACHED_HERE && !why && *t; t++)
		if ((*t)->points >> point & 1 && (*t)->blind)
			why = (*t)->blind(site, how);
	return why;
}

void attached_blind(const struct meta *meta, const struct attached *a, const char *dir,
		    char blind[NR_POINTS][BLIND_SIZE])
{
	struct site site = {
		.iface = a->iface, .driver = driver_find(meta->driver),
		.config.takes_all = meta->takes_all,
	};

	site.iface.ifindex = meta->ifindex;
	snprintf(site.pins, sizeof(site.pins), "%s", dir);
	snprintf(site.iface.name, sizeof(site.iface.name), "%s", meta->iface);
	for (int p = 0; p < NR_POINTS; p++) {
		const char *how = meta->hook[p], *why = *how ? blind_at(&site, a, p, how) : NULL;

		snprintf(blind[p], BLIND_SIZE, "%s", why ?: "");
	}
}
