/* SPDX-License-Identifier: GPL-2.0 */
/* The JSON object "hw"; man/nicprobe-json.5 describes it. */
#include <linux/ethtool.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/proc/holders.h"
#include "lib/util/list.h"
#include "render/hw/hw.h"

static void number(struct json *j, const char *key, long long value)
{
	if (value >= 0)
		json_uint(j, key, value);
	else
		json_null(j, key);
}

/* "": an empty set. */
static void cpus(struct json *j, const char *key, const struct cpus *c)
{
	char *list = malloc(8 * MAX_CPUS);

	json_string(j, key, list ? cpus_text(c, list, 8 * MAX_CPUS) : "");
	free(list);
}

static void driver(struct json *j, const struct hw *h)
{
	json_open(j, "driver", '{');
	json_string(j, "name", h->iface.driver);
	json_bool(j, "known", h->driver != &driver_generic);
	json_string_or_null(j, "version", h->version);
	json_string_or_null(j, "firmware", h->firmware);
	json_string_or_null(j, "module", h->module);
	json_close(j);
}

static void device(struct json *j, const struct hw *h)
{
	const struct hw_card *c = &h->card;

	if (!*c->subsystem) {
		json_null(j, "device");
		return;
	}
	json_open(j, "device", '{');
	json_string(j, "subsystem", c->subsystem);
	json_string(j, "name", c->name);
	json_string_or_null(j, "bus", h->bus);
	json_string_or_null(j, "ids", c->ids);
	number(j, "numa_node", c->node);
	cpus(j, "local_cpus", &c->local);
	if (*c->speed) {
		json_open(j, "pcie", '{');
		json_string(j, "speed", c->speed);
		json_uint(j, "width", c->width);
		json_string(j, "max_speed", c->max_speed);
		json_uint(j, "max_width", c->max_width);
		json_close(j);
	}
	json_string_or_null(j, "vf_of", c->pf);
	json_string_or_null(j, "pf_interface", c->pf_iface);
	json_uint(j, "vfs", c->vfs);
	json_uint(j, "max_vfs", c->max_vfs);
	json_close(j);
}

static void group(struct json *j, const char *key, const struct setting_group *g,
		  const struct settings *s)
{
	if (s->err) {
		json_null(j, key);
		return;
	}
	json_open(j, key, '{');
	for (unsigned i = 0; i < g->nr; i++) {
		if (s->value[i] == NOT_TOLD)
			continue;
		if (g->list[i].kind == SETTING_FLAG)
			json_bool(j, g->list[i].name, s->value[i]);
		else
			json_uint(j, g->list[i].name, s->value[i]);
	}
	json_close(j);
}

static void link(struct json *j, const struct hw *h)
{
	const __u8 *mac = h->iface.mac;
	long long autoneg = setting_of(&group_link, &h->link, "autoneg");
	unsigned long mbit = speed_of(&h->link);
	char address[24] = "";

	json_open(j, "link", '{');
	json_bool(j, "up", h->iface.up);
	json_bool(j, "carrier", h->carrier);
	json_uint(j, "mtu", h->iface.mtu);
	for (unsigned i = 0; i < mac[7]; i++)
		sprintf(address + strlen(address), "%s%02x", i ? ":" : "", mac[i]);
	json_string_or_null(j, "address", address);
	number(j, "bits_per_second", mbit ? (long long)mbit * 1000000 : -1);
	json_string_or_null(j, "duplex", hw_duplex(h));
	if (autoneg < 0)
		json_null(j, "autoneg");
	else
		json_bool(j, "autoneg", autoneg);
	number(j, "lanes", setting_of(&group_link, &h->link, "lanes"));
	json_string_or_null(j, "port", hw_port(h));
	json_string_or_null(j, "fec", hw_fec(h));
	group(j, "pause", &group_pause, &h->pause);
	json_close(j);
}

static void fields(struct json *j, const char *key, long long bits)
{
	static const struct {
		long long bit;
		const char *name;
	} list[] = {
		{ RXH_L2DA, "destination-mac" }, { RXH_VLAN, "vlan" }, { RXH_L3_PROTO, "protocol" },
		{ RXH_IP_SRC, "source" }, { RXH_IP_DST, "destination" },
		{ RXH_L4_B_0_1, "source-port" }, { RXH_L4_B_2_3, "destination-port" },
	};

	if (bits < 0) {
		json_null(j, key);
		return;
	}
	json_open(j, key, '[');
	for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++)
		if (bits & list[i].bit)
			json_string(j, NULL, list[i].name);
	json_close(j);
}

static void rss(struct json *j, const struct hw *h)
{
	const struct rss *r = &h->rss;
	char key[3 * MAX_RSS_KEY + 1] = "";

	json_open(j, "rss", '{');
	json_string_or_null(j, "function", r->function);
	json_bool(j, "symmetric", r->symmetric);
	for (unsigned i = 0, len = 0; i < r->key_size; i++)
		len += sprintf(key + len, "%s%02x", i ? ":" : "", r->key[i]);
	json_string_or_null(j, "key", key);
	json_open(j, "table", '[');
	for (unsigned i = 0; i < r->nr; i++)
		json_uint(j, NULL, r->table[i]);
	json_close(j);
	json_open(j, "hashed", '{');
	for (unsigned i = 0; i < NR_HASHED; i++)
		fields(j, hashed_names[i], r->hashed[i]);
	json_close(j);
	number(j, "rules", r->rules);
	json_close(j);
}

static void offloads(struct json *j, const struct features *f)
{
	json_open(j, "offloads", '{');
	for (unsigned i = 0; i < f->nr; i++) {
		unsigned is = f->list[i].is;

		json_open(j, f->list[i].name, '{');
		json_bool(j, "on", is & FEATURE_ON);
		json_bool(j, "fixed", !(is & FEATURE_CAN) || is & FEATURE_FIXED);
		json_bool(j, "wanted", is & FEATURE_WANTED);
		json_close(j);
	}
	json_close(j);
}

static void seconds(struct json *j, const char *key, long long ns)
{
	json_double(j, key, ns < 0 ? NAN : ns * 1e-9);
}

static void napi(struct json *j, const struct hw *h)
{
	static const char *const threaded[] = { "no", "yes", "busy-poll" };

	json_open(j, "napi", '{');
	json_bool(j, "threaded", h->threaded);
	number(j, "defer_hard_irqs", h->defer_hard_irqs);
	seconds(j, "gro_flush_seconds", h->gro_flush_ns);
	seconds(j, "busy_poll_seconds", h->busy_poll_us < 0 ? -1 : h->busy_poll_us * 1000);
	seconds(j, "busy_read_seconds", h->busy_read_us < 0 ? -1 : h->busy_read_us * 1000);
	json_open(j, "instances", '[');
	for (unsigned i = 0; i < h->napis.nr; i++) {
		const struct napi_instance *n = &h->napis.list[i];

		json_open(j, NULL, '{');
		number(j, "id", n->id ? (long long)n->id : -1);
		number(j, "irq", n->irq ? (long long)n->irq : -1);
		json_string(j, "threaded", threaded[n->threaded <= NAPI_IN_BUSY_THREAD ?
						    n->threaded :
						    NAPI_IN_THREAD]);
		number(j, "thread", n->pid ? (long long)n->pid : -1);
		number(j, "defer_hard_irqs", n->defer_hard_irqs);
		seconds(j, "gro_flush_seconds", n->gro_flush_ns);
		seconds(j, "irq_suspend_seconds", n->irq_suspend_ns);
		json_close(j);
	}
	json_close(j);
	json_close(j);
}

static void queue(struct json *j, const struct hw_line *l)
{
	json_open(j, NULL, '{');
	number(j, "rx", l->rx);
	number(j, "tx", l->tx);
	number(j, "napi", l->napi ? (long long)l->napi : -1);
	number(j, "irq", l->irq ? (long long)l->irq : -1);
	json_string_or_null(j, "interrupt", l->vector);
	if (l->irq || cpus_next(&l->does, -1) >= 0) {	/* VMBus: effective affinity, no IRQ */
		cpus(j, "affinity", &l->may);
		cpus(j, "effective_affinity", &l->does);
		number(j, "numa_node", l->node);
	}
	if (l->pid)
		cpus(j, "thread_affinity", &l->thread);
	if (l->rx >= 0) {
		cpus(j, "rps", &l->rps);
		json_uint(j, "rps_flows", l->rps_flows);
	}
	if (l->tx >= 0)
		cpus(j, "xps", &l->xps);
	json_close(j);
}

/* Programs, filters and the qdisc, which may take packets before the stack or the card. */
static void above(struct json *j, const struct hw_above *a)
{
	json_open(j, "programs", '[');
	for (unsigned i = 0; i < a->nr; i++) {
		json_open(j, NULL, '{');
		json_string(j, "hook", hook_names[a->programs[i].hook]);
		json_uint(j, "id", a->programs[i].id);
		json_string_or_null(j, "name", a->programs[i].name);
		json_bool(j, "own", a->programs[i].own);
		json_close(j);
	}
	json_close(j);
	json_open(j, "filters", '{');
	json_uint(j, "ingress", a->filters[0]);
	json_uint(j, "egress", a->filters[1]);
	json_close(j);
	json_open(j, "qdisc", '{');
	json_string_or_null(j, "kind", a->qdisc);
	json_open(j, "beneath", '{');
	for (unsigned i = 0; i < a->nr_beneath; i++)
		json_uint(j, a->beneath[i].kind, a->beneath[i].nr);
	json_close(j);
	json_close(j);
}

static void named(struct json *j, const char *key, const struct hw_device *d)
{
	json_open(j, key, '{');
	json_string(j, "name", d->name);
	json_string_or_null(j, "kind", d->kind);
	json_close(j);
}

static void devices(struct json *j, const struct hw_above *a)
{
	if (*a->master.name)
		named(j, "master", &a->master);
	else
		json_null(j, "master");
	json_open(j, "stacked", '[');
	for (unsigned i = 0; i < a->nr_stacked; i++)
		named(j, NULL, &a->stacked[i]);
	json_close(j);
}

static void sockets(struct json *j, const struct xsks *all)
{
	json_open(j, "af_xdp", '[');
	for (unsigned i = 0; i < all->nr; i++) {
		const struct xsk *x = &all->list[i];
		struct holder h;

		holder_find(x->inode, &h);
		json_open(j, NULL, '{');
		json_uint(j, "queue", x->queue);
		json_string_or_null(j, "process", h.name);
		number(j, "pid", h.pid ? h.pid : -1);
		json_uint(j, "socket", x->inode);
		json_uint(j, "uid", x->uid);
		json_string(j, "mode", x->zero_copy ? "zero-copy" : "copy");
		json_uint(j, "umem", x->umem);
		json_uint(j, "rx_ring", x->rx_ring);
		json_uint(j, "tx_ring", x->tx_ring);
		json_uint(j, "fill_ring", x->fill_ring);
		json_uint(j, "completion_ring", x->completion_ring);
		json_close(j);
	}
	json_close(j);
}

void hw_json(struct json *j, const struct hw *h)
{
	static const char *const by[] = { "unknown", "netdev-genl", "name", "rank" };
	ONE_EACH(by, NR_QUEUES_BY);

	driver(j, h);
	device(j, h);
	link(j, h);
	above(j, &h->above);
	devices(j, &h->above);
	sockets(j, &h->xsks);
	group(j, "channels", &group_channels, &h->channels);
	group(j, "rings", &group_rings, &h->rings);
	group(j, "coalescing", &group_coalesce, &h->coalesce);
	rss(j, h);
	offloads(j, &h->features);
	napi(j, h);
	number(j, "rfs_entries", h->rfs_entries);
	json_uint(j, "rx_missed", h->rx_missed);
	cpus(j, "online_cpus", &h->online);
	json_string(j, "queues_by", by[h->by]);
	json_string(j, "napi_by", by[h->napi_by]);
	json_open(j, "queues", '[');
	for (unsigned i = 0; i < h->nr; i++)
		queue(j, &h->lines[i]);
	json_close(j);
	json_open(j, "absent", '{');
	for (unsigned i = 0; i < h->nr_notes; i++)
		json_string(j, h->notes[i].of, h->notes[i].why);
	json_close(j);
}
