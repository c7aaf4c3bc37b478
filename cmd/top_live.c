/* SPDX-License-Identifier: GPL-2.0 */
/* The running kernel as the source of top: what is attached, and the interfaces beside it. */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/top.h"
#include "lib/attach/pins.h"
#include "lib/net/here.h"
#include "lib/net/iface.h"
#include "lib/net/netlink.h"
#include "lib/util/clock.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

struct live {
	char **ifaces;			/* labels; none: all */
	struct iface *known;		/* of interfaces that are not attached: their drivers */
	unsigned nr_known;
};

struct live_reading {
	struct live *live;
	struct top_moment *now;
	unsigned denied;		/* attachments that may not be read */
	struct error why;
};

static bool wanted(const struct live *l, const char *label)
{
	char **one = l->ifaces;

	while (*one && strcmp(*one, label))
		one++;
	return *one || !*l->ifaces;
}

/* An attached interface. What cannot be read is told once, below the table. */
static int attached(const char *dir, __u32 netns, const char *iface, void *arg)
{
	struct live_reading *r = arg;
	struct error e = {};
	struct top_item *item;
	char label[96];
	int err;

	iface_label(netns, iface, label, sizeof(label));
	if (!wanted(r->live, label))
		return 0;
	item = top_item_add(r->now, true);
	if (!item)
		return error_set(&r->why, -ENOMEM, NULL, "out of memory");
	err = snapshot_take(item->s, dir, &e);
	if (err) {
		top_item_free(item);
		r->now->nr--;
		if (err != -ENOENT && err != -ENODATA) {
			error_set(&r->why, err, e.try, "%s: %s", label,
				  *e.what ? e.what : strerror(-err));
			r->denied++;
		}
		return 0;
	}
	snprintf(item->name, sizeof(item->name), "%s", label);
	snprintf(item->driver, sizeof(item->driver), "%s", item->s->meta.driver);
	snprintf(item->state, sizeof(item->state), "%s", item->s->state);
	item->rx_queues = item->s->meta.rx_queues;
	item->tx_queues = item->s->meta.tx_queues;
	item->up = !item->s->link.known || item->s->link.up;
	item->boot_ns = item->s->boot_ns;
	item->ours = held_has(label);
	return 0;
}

static bool there(const struct top_moment *m, const char *name)
{
	for (unsigned i = 0; i < m->nr; i++)
		if (!strcmp(m->list[i]->name, name))
			return true;
	return false;
}

/* Driver and queues change rarely, and to ask ethtool takes long: once for each index and name. */
static const struct iface *known(struct live *l, unsigned ifindex, const char *name)
{
	__u32 netns = netns_inode();
	struct iface *list, *i;

	for (i = l->known; i < l->known + l->nr_known; i++)
		if (i->ifindex == ifindex && i->netns == netns && !strcmp(i->name, name))
			return i;
	list = realloc(l->known, (l->nr_known + 1) * sizeof(*list));
	if (!list)
		return NULL;
	l->known = list;
	i = &list[l->nr_known];
	memset(i, 0, sizeof(*i));
	if (iface_read_index(ifindex, i, NULL))
		return NULL;
	l->nr_known++;
	return i;
}

/* An interface of the namespace the process is in, if it is not attached. */
static void plain(struct live_reading *r, unsigned ifindex, const char *name, const char *label)
{
	const struct iface *i;
	struct top_item *item;
	int flags;

	if (there(r->now, label) || !(i = known(r->live, ifindex, name)))
		return;
	item = top_item_add(r->now, false);
	if (!item)
		return;
	flags = link_flags(here_socket(), name);
	snprintf(item->name, sizeof(item->name), "%s", label);
	snprintf(item->driver, sizeof(item->driver), "%s", i->driver);
	item->rx_queues = i->rx_queues;
	item->tx_queues = i->tx_queues;
	item->up = flags > 0 && flags & IFF_UP;
	item->boot_ns = clock_ns(CLOCK_BOOTTIME);
	if (link_statistics(ifindex, &item->link)) {
		top_item_free(item);
		r->now->nr--;
	}
}

static void plain_all(struct live_reading *r)
{
	struct if_nameindex *list = if_nameindex();

	for (struct if_nameindex *i = list; i && i->if_index; i++)
		plain(r, i->if_index, i->if_name, i->if_name);
	if (list)
		if_freenameindex(list);
}

/* Those that were named, in their namespaces. */
static void plain_named(struct live_reading *r)
{
	for (char **one = r->live->ifaces; *one; one++) {
		const char *name = there(r->now, *one) ? NULL : iface_enter(*one, NULL, NULL);
		unsigned ifindex = name ? iface_index_of(name) : 0;

		if (ifindex)
			plain(r, ifindex, name, *one);
		else if (!there(r->now, *one))
			snprintf(r->now->remark, sizeof(r->now->remark), "%s is not there any more",
				 *one);
		netns_go_home();
	}
}

static int live_read(struct top_source *source, struct top_moment *now, struct error *e)
{
	struct live_reading r = { .live = source->of, .now = now };
	int lock = pins_lock(false, &r.why);

	if (lock >= 0)
		pins_each(attached, &r);
	pins_unlock(lock);
	netns_go_home();
	if (*r.live->ifaces)
		plain_named(&r);
	else
		plain_all(&r);
	clock_gettime(CLOCK_REALTIME, &now->when);
	if (lock == -EBUSY || r.why.err == -ENOMEM)	/* what is on the screen stays */
		return error_set(e, r.why.err, r.why.try, "%s", r.why.what);
	if (lock < 0 && lock != -ENOENT)
		snprintf(now->remark, sizeof(now->remark),
			 "what is attached cannot be seen: %.250s", r.why.what);
	else if (r.denied)
		snprintf(now->remark, sizeof(now->remark), "%.200s%s%.90s", r.why.what,
			 *r.why.try ? "; try: " : "", r.why.try);
	return 0;
}

/* The label of what is attached or there, to be freed: several names may lead to it. */
static char *label_of(const char *arg, struct error *e)
{
	__u32 netns;
	const char *iface = iface_enter(arg, &netns, e) ?: iface_outside(arg, &netns, e);
	unsigned ifindex = iface && netns == netns_inode() ? iface_index_of(iface) : 0;
	char dir[256], label[96];
	struct meta meta;

	netns_go_home();
	if (!iface)
		return NULL;
	pins_dir(dir, sizeof(dir), netns, iface);
	if (!ifindex && meta_read(dir, &meta, NULL)) {
		error_set(e, -ENODEV, "nicprobe top", "no interface %s", arg);
		return NULL;
	}
	iface_label(netns, iface, label, sizeof(label));
	return strdup(label);
}

static void live_free(struct live *l)
{
	for (char **one = l->ifaces; one && *one; one++)
		free(*one);
	free(l->ifaces);
	free(l->known);
	free(l);
}

int live_begin(struct top_source *source, char **ifaces, struct error *e)
{
	struct live *l = calloc(1, sizeof(*l));
	unsigned nr = 0;

	if (!l)
		return error_set(e, -ENOMEM, NULL, "out of memory");
	while (ifaces[nr])
		nr++;
	l->ifaces = calloc(nr + 1, sizeof(*l->ifaces));
	for (unsigned i = 0; l->ifaces && i < nr; i++) {
		l->ifaces[i] = label_of(ifaces[i], e);
		if (!l->ifaces[i])
			break;
	}
	if (!l->ifaces || (nr && !l->ifaces[nr - 1])) {
		live_free(l);
		return e->err ?: error_set(e, -ENOMEM, NULL, "out of memory");
	}
	*source = (struct top_source){ .read = live_read, .of = l };
	return 0;
}

void live_end(struct top_source *source)
{
	if (source->of)
		live_free(source->of);
}
