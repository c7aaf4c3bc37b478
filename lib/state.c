/* SPDX-License-Identifier: GPL-2.0 */
/* What became of an interface since it was attached: renamed, moved, gone. */
#include <stdio.h>
#include <string.h>

#include "attach.h"
#include "iface.h"
#include "log.h"
#include "meter.h"
#include "pins.h"

struct moved {
	const struct meta *meta;
	struct iface now;
	char netns[64];
};

static bool same_address(const struct meta *meta, const struct iface *i)
{
	return meta->mac[7] && !memcmp(meta->mac, i->mac, sizeof(meta->mac));
}

/* A device keeps its ifindex when it moves, unless it is taken there; its address always. */
static bool is_here(const char *netns, void *arg)
{
	struct moved *m = arg;
	struct if_nameindex *list = if_nameindex();
	bool found = false;

	for (struct if_nameindex *i = list; i && i->if_index && !found; i++)
		found = !iface_read_index(i->if_index, &m->now) && m->now.netns != m->meta->netns &&
			same_address(m->meta, &m->now) && !strcmp(m->now.driver, m->meta->driver);
	if (list)
		if_freenameindex(list);
	snprintf(m->netns, sizeof(m->netns), "%s", netns);
	return found;
}

void attached_state(const struct meta *meta, char *state, unsigned size)
{
	struct moved m = { .meta = meta };
	struct iface *now = &m.now;
	char dir[256];

	*state = 0;
	pins_dir(dir, sizeof(dir), meta->netns, meta->iface);
	if (meta->netns != netns_inode() && netns_enter_inode(meta->netns)) {
		snprintf(state, size, "its network namespace has no name, or is gone");
	} else if (!iface_read_index(meta->ifindex, now)) {
		if (pins_dead(dir))
			snprintf(state, size, "%s is gone, and another %s has its index; "
				 "detach, and attach again", meta->iface, now->name);
		else if (strcmp(now->name, meta->iface))
			snprintf(state, size, "%s is called %s now", meta->iface, now->name);
		else if (now->rx_queues != meta->rx_queues || now->tx_queues != meta->tx_queues)
			snprintf(state, size, "%s has %u rx and %u tx queues now; it had %u and %u",
				 now->name, now->rx_queues, now->tx_queues, meta->rx_queues,
				 meta->tx_queues);
	} else if (netns_each(is_here, &m)) {
		snprintf(state, size, "%s moved to the network namespace %s, as %s: only XDP and "
			 "tc count on; detach, and attach %s/%s", meta->iface, m.netns,
			 now->name, m.netns, now->name);
	} else if (if_nametoindex(meta->iface)) {
		snprintf(state, size, "%s is gone, and another has its name; these are its last "
			 "figures; to measure the new one, attach again", meta->iface);
	} else {
		snprintf(state, size, "%s is gone (deleted, or in a namespace without a name); "
			 "these are its last figures", meta->iface);
	}
	complaints_forget();
}
