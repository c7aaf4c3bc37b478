/* SPDX-License-Identifier: GPL-2.0 */
/* Attach: chooses a hook per point, begins the meters (begin.c), and writes the pin "meta" last. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <bpf/libbpf.h>

#include "lib/attach/attach.h"
#include "lib/attach/begin.h"
#include "lib/attach/configure.h"
#include "lib/attach/group.h"
#include "lib/attach/object.h"
#include "lib/attach/pacing.h"
#include "lib/attach/pins.h"
#include "lib/attach/points.h"
#include "lib/attach/soon.h"
#include "lib/core/meter.h"
#include "lib/kernel/feature.h"
#include "lib/net/here.h"
#include "lib/read/baseline.h"
#include "lib/read/derived.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "lib/util/shortage.h"

/* Was the meter requested, and not only needed by a requested one? */
static bool named(const struct request *req, int id)
{
	return (req->by_name ? req->meters : req->added) >> id & 1;
}

const char *meter_misfit(const struct site *site, const struct meter *m)
{
	const char *why;

	if (m->host && !site->iface.host)
		return "it is a meter of the host: nicprobe attach " HOST_NAME;
	if (!m->host && site->iface.host)
		return "it is a meter of an interface";
	why = m->host && m->cannot ? m->cannot() : NULL;
	return why ? why : m->absent ? m->absent(site) : NULL;
}

/* Leaves out meters that this interface cannot have, before anything is attached. */
static int meters_refuse(const struct site *site, const struct request *req, struct meta *meta)
{
	for (int id = 0; id < NR_METERS; id++) {
		const struct meter *m = meters[id];
		const char *why = meta->on >> id & 1 ? meter_misfit(site, m) : NULL;

		if (attach_stopped(site))
			return attach_stopped(site);
		if (!why && m->idle && !req->idle && !named(req, id))
			why = m->idle(site);
		if (!why)
			continue;
		if (named(req, id))
			return error_set(site->error, -EOPNOTSUPP, NULL,
					 "%s cannot be had on %s: %s", m->name, site->iface.name,
					 why);
		meta->on &= ~(1ull << id);
		note_once(meta->absent[id], sizeof(meta->absent[id]), why);
	}
	return 0;
}

/* Attaches a meter that has programs. */
static int meter_attach(const struct site *site, const struct meter *m, struct meta *meta)
{
	struct site own = *site;
	struct bpf_object *obj;
	int err;

	if (meter_shares(m)) {		/* set_attach() loads it with the others */
		meta->set[site->set].meters |= 1ull << meter_id(m);
		return 0;
	}
	own.config.one_in[meter_id(m)] = meter_sample(m, meta);
	obj = object_open(&own, m->events.elf);
	err = !obj ? -EOPNOTSUPP : m->events.attach ? m->events.attach(&own, obj) :
	      attach_links(&own, obj);
	object_close(obj);
	return err;
}

/* A packet meter, or one derived from it, needs a hook at one of its points at least. */
const char *meter_unseen(const struct meter *m, const struct meta *meta)
{
	unsigned points = m->type == DERIVED_METER ? m->points : points_of(1ull << meter_id(m));
	const char *why = NULL;

	for (int p = 0; p < NR_POINTS; p++) {
		if (!(points >> p & 1))
			continue;
		if (*meta->hook[p])
			return NULL;
		why = why ?: text("%s cannot be seen: %s", point_names[p], meta->note[p]);
	}
	return why;
}

/* Last of all, as it is derived from other meters. */
static int derived_attach(const struct site *site, const struct meter *m, const struct meta *meta)
{
	const struct meter *lacks = derived_lacks(m, meta->on);
	const char *why = lacks ? NULL : meter_unseen(m, meta);

	if (why)
		return error_set(site->error, -EOPNOTSUPP, NULL, "%s", why);
	if (!lacks)
		return derived_pin(site, m, meta);
	return error_set(site->error, -EOPNOTSUPP, NULL, "it is made of %s, which is not there: %s",
			 lacks->name, meta->absent[meter_id(lacks)]);
}

int meter_fails(const struct site *site, const struct request *req, const struct meter *m,
		struct meta *meta, const char *why)
{
	int id = meter_id(m);

	meta->on &= ~(1ull << id);
	if (named(req, id)) {
		const char *what = text("%s", why);

		error_forget(site->error);
		return error_set(site->error, -EOPNOTSUPP, NULL, "%s cannot be had on %s: %s",
				 m->name, site->iface.name, what);
	}
	*meta->absent[id] = '\0';
	note_once(meta->absent[id], sizeof(meta->absent[id]), why);
	error_forget(site->error);
	return 0;
}

int attach_one(const struct site *site, const struct request *req, const struct meter *m,
	       struct meta *meta)
{
	int id = meter_id(m);
	const char *why = NULL;
	int err = 0;

	switch (m->type) {
	case PACKET_METER:
		why = meter_unseen(m, meta);
		break;
	case EVENT_METER:
		err = meter_attach(site, m, meta);
		break;
	case READ_METER:
		err = baseline_read(site, m, meta);
		break;
	case DERIVED_METER:
		err = derived_attach(site, m, meta);
		break;
	}
	if (err) {
		short_of(-err, text("begin the meter %s", m->name));
		why = *error_what(site->error) ? error_what(site->error) : strerror(-err);
	}
	if (attach_stopped(site))		/* even if it looked like a missing feature */
		return attach_stopped(site);
	if (!why && m->remark && m->remark(site))
		note_once(meta->absent[id], sizeof(meta->absent[id]), m->remark(site));
	return why ? meter_fails(site, req, m, meta, why) : 0;
}

static int meters_attach(const struct site *site, const struct request *req, struct meta *meta)
{
	__u64 since = 0;
	int err = begin_all(site, req, meta, meta->on, attach_one, &since);

	meta->since = since;
	if (err)
		return err;
	return meta->on ? 0 : error_set(site->error, -EOPNOTSUPP, "nicprobe list -v",
					"nothing of this can be measured on %s here",
					site->iface.name);
}

static void meta_begin(const struct site *site, const struct request *req, struct meta *meta)
{
	const struct iface *i = &site->iface;

	*meta = (struct meta){
		.magic = META_MAGIC,
		.version = meta_version(),
		.ifindex = i->ifindex,
		.netns = i->netns,
		.cookie = netns_cookie(),
		.inode = i->inode,
		.host = i->host,
		.rx_queues = i->rx_queues,
		.tx_queues = i->tx_queues,
		.down = !i->up && *i->parent,
		.rows = site->config.rows,
		.near = site->config.near,
		.cpus = libbpf_num_possible_cpus(),
		.on = meters_needed(req->meters),
		.sample = req->sample,
		.adapts = req->adapts ? ADAPTS_ASKED : req->sample ? 0 : ADAPTS,
		.budget = req->budget,
		.rx_ring = site->config.rx_ring,
		.max_rx_ring = i->max_rx_ring,
		.tx_usecs = i->tx_usecs,
		.tx_frames = i->tx_frames,
		.rx_adaptive = i->rx_adaptive,
		.tx_adaptive = i->tx_adaptive,
		.devices = driver_devices(i->driver),
		.polls = site->config.polls,
		.frees_in_tasks = site->config.frees_in_tasks,
		.takes_all = site->config.takes_all,
	};
	_Static_assert(sizeof(meta->iface) == sizeof(i->name) &&
		       sizeof(meta->driver) == sizeof(i->driver) &&
		       sizeof(meta->mac) == sizeof(i->mac), "copied whole");
	memcpy(meta->mac, i->mac, sizeof(meta->mac));
	snprintf(meta->iface, sizeof(meta->iface), "%s", i->name);
	snprintf(meta->driver, sizeof(meta->driver), "%s", i->driver);
}

/* Our own XDP program may have brought queues into use (virtio_net), or taken some. */
static void queues_again(const struct site *site, struct meta *meta)
{
	struct iface now;

	if (iface_read_index(site->iface.ifindex, &now, NULL))
		return;
	meta->rx_queues = now.rx_queues;
	meta->tx_queues = now.tx_queues;
}

static int build(struct site *site, const struct request *req, struct meta *meta)
{
	int err = 0;

	if (mkdir(text(PINS_ROOT "/%u", site->iface.netns), 0700) && errno != EEXIST)
		err = -errno;
	if (!err && mkdir(site->pins, 0700))
		err = -errno;
	if (err)
		return error_set(site->error, err, NULL, "cannot make %s: %s", site->pins,
				 strerror(-err));
	err = attach_stopped(site) ?: meters_refuse(site, req, meta);
	if (!err) {
		site->config.on = meta->on;
		if (site->soon)
			kernel_lacks(FEATURE_TCX);	/* which takes the lock of interfaces */
		err = points_attach(site, req, meta);
		site->config.buffers_at_tc = meta->buffers_at_tc;
	}
	if (!err)
		err = meters_attach(site, req, meta) ?: pacing_write(site, meta);
	if (!err) {
		queues_again(site, meta);
		err = attach_stopped(site) ?: meta_write(site->pins, meta, site->error);
	}
	return err;
}

/* A link that was believed to succeed may fail: then again, without belief. */
static int build_or_again(struct site *site, const struct request *req, struct meta *meta)
{
	int err;

	meta_begin(site, req, meta);
	err = build(site, req, meta);
	soon_settle();			/* if the build failed before it did */
	if (!soon_failed() || attach_stopped(site))
		return err;
	error_forget(site->error);
	attach_undo(site);
	site->soon = false;
	meta_begin(site, req, meta);
	return build(site, req, meta);
}

/*
 * Makes room for a new attach: removes pins of an attach that was cut short, and
 * pins of an interface that is gone and had the same name.
 */
static int make_room(const struct site *site, const char *label)
{
	struct meta old;
	char dir[256], now[IF_NAMESIZE];
	int err = meta_read(site->pins, &old, site->error);

	if (!err && netns_enter_same(site->iface.netns, old.cookie, NULL) == -ESTALE) {
		struct site gone = *site;

		gone.gone = true;
		gone.iface.ifindex = old.ifindex;
		return attach_undo(&gone);
	}
	if (!err && old.ifindex != site->iface.ifindex && iface_name_of(old.ifindex, now) &&
	    !pins_of_other(site->pins, &old, iface_inode(old.ifindex)))
		return error_set(site->error, -EBUSY, text("nicprobe detach %s", now),
				 "%s is still attached under its former name %s: detach it first",
				 now, site->iface.name);
	if (err == -ENODATA ||
	    (!err && (old.ifindex != site->iface.ifindex ||
		      pins_of_other(site->pins, &old, site->iface.inode)))) {
		struct site gone = *site;

		if (!err)
			gone.iface.ifindex = old.ifindex;
		return attach_undo(&gone);
	}
	if (err && err != -ENOENT)
		return err;
	if (!err || pins_find(site->iface.netns, site->iface.ifindex, dir, sizeof(dir)))
		return error_set(site->error, -EALREADY, text("nicprobe show %s", label),
				 "%s is attached already", label);
	return 0;
}

int attach_iface(const char *name, const struct request *req, struct meta *done, struct error *e)
{
	struct error own = {};	/* the notes about meters need it, even if the caller passes none */
	struct site site = { .error = e ?: &own };
	struct request of = *req;
	int lock, err;
	gid_t group;

	shortage_forget();
	err = host_or_iface_read(name, &site.iface, site.error);
	err = err ?: netns_known(&site.iface.netns, site.error);
	if (err)
		return err;
	if (!of.by_name)
		of.meters &= meters_of(site.iface.host) | of.added;
	site_configure(&site, &of);
	site.config.from = 1;
	err = site_queues(&site);
	if (err)
		return err;
	pins_dir(site.pins, sizeof(site.pins), site.iface.netns, site.iface.name);
	lock = pins_lock(true, site.error);
	if (lock < 0) {
		queues_free(&site.queues);
		return lock;
	}
	err = of.group ? group_check(lock, of.group, &group, site.error) : 0;
	err = err ?: make_room(&site, of.label ?: name);
	if (!err) {
		site.soon = true;
		err = build_or_again(&site, &of, done);
		if (!err && of.group)
			err = group_share(lock, site.pins, group, site.error);
		if (err)
			attach_undo(&site);
	}
	pins_tidy();
	pins_unlock(lock);
	queues_free(&site.queues);
	return err;
}
