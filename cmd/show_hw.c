/* SPDX-License-Identifier: GPL-2.0 */
/* The section "hw" of `nicprobe show`, for interfaces attached or not. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/show.h"
#include "findings/subjects.h"
#include "lib/hw/hw.h"
#include "lib/net/here.h"
#include "lib/net/sysfs.h"
#include "lib/util/error.h"

/* Fills a snapshot with the identity of the interface, without any counts. */
static void describe(struct snapshot *s, const struct hw *h)
{
	const struct iface *i = &h->iface;

	*s = (struct snapshot){
		.hw = h, .online = cpus_count(&h->online),
		.meta = { .ifindex = i->ifindex, .netns = i->netns, .rx_queues = i->rx_queues,
			  .tx_queues = i->tx_queues },
	};
	snprintf(s->meta.iface, sizeof(s->meta.iface), "%s", i->name);
	snprintf(s->meta.driver, sizeof(s->meta.driver), "%s", i->driver);
	clock_gettime(CLOCK_REALTIME, &s->when);
}

/* 0 or -errno. */
static int take(const char *arg, struct snapshot *s, struct hw *h, struct error *e)
{
	__u32 netns;
	const char *name;
	int err;

	*h = (struct hw){};
	name = iface_enter(arg, &netns, e);
	/* iface_enter() does not enter the namespace of "netns:INODE/IFACE" */
	if (!name || (netns != netns_inode() && netns_enter_inode(netns, e)))
		err = error_set(e, -ENOENT, "ip netns", "no network namespace for %s", arg);
	else
		err = hw_read(name, h, e);
	netns_go_home();
	if (err)
		return err;
	describe(s, h);
	iface_label(h->iface.netns, h->iface.name, s->name, sizeof(s->name));
	findings_judge(s, h);
	return 0;
}

/* Looks the interface up by index: it may have been renamed. */
int show_hw_add(struct snapshot *s, struct hw *h, struct error *e)
{
	char name[IF_NAMESIZE];
	int err;

	*h = (struct hw){};
	if (netns_enter_same(s->meta.netns, s->meta.cookie, e))
		err = error_set(e, -ENOENT, NULL,
				"cannot read hw of %s: its network namespace has no name",
				s->name);
	else if (!iface_name_of(s->meta.ifindex, name))
		err = error_set(e, -ENODEV, NULL, "%s is gone", s->name);
	else
		err = hw_read(name, h, e);
	netns_go_home();
	if (err)
		return err;
	s->hw = h;
	return 0;
}

static bool has_device(const char *name, unsigned ifindex)
{
	int dir = sysfs_open(name, ifindex);
	bool has = dir >= 0 && !faccessat(dir, "device", F_OK, 0);

	if (dir >= 0)
		close(dir);
	return has;
}

void show_hw_interfaces(struct view *v)
{
	struct if_nameindex *list = if_nameindex();

	for (struct if_nameindex *i = list; i && i->if_index; i++) {
		char *to = has_device(i->if_name, i->if_index) ? show_more(v) : NULL;

		if (to)
			snprintf(to, DIR_SIZE, "%s", i->if_name);
	}
	if (list)
		if_freenameindex(list);
}

/* Prints hw of all in `dirs`; among several, those that went away meanwhile are skipped. */
static int print_hw(const struct view *v)
{
	struct snapshot *all = calloc(v->nr ?: 1, sizeof(*all));
	struct hw *hw = calloc(v->nr ?: 1, sizeof(*hw));
	const struct snapshot **list = calloc(v->nr ?: 1, sizeof(*list));
	unsigned nr = 0;
	int err = all && hw && list ? 0 : -ENOMEM;

	for (unsigned i = 0; i < v->nr && !err; i++) {
		err = take(v->dirs[i], &all[i], &hw[i], v->nr > 1 ? NULL : v->error);
		if (!err)
			list[nr++] = &all[i];
		else if (v->nr > 1)
			err = 0;
	}
	if (!err)
		show_list(v, list, nr);
	for (unsigned i = 0; hw && i < v->nr; i++)
		hw_free(&hw[i]);
	free(all);
	free(hw);
	free(list);
	return err;
}

/* Repeats with -i, for example to watch interrupts move between CPUs. */
int show_hw(const struct view *v)
{
	struct timespec next;
	int err = print_hw(v);

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (unsigned i = 1; !err && v->again && (!v->count || i < v->count) &&
	     !ferror(stdout); i++) {
		show_wait(&next, v->interval);
		err = print_hw(v);
	}
	return err;
}
