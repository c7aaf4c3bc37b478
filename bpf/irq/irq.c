/* SPDX-License-Identifier: GPL-2.0 */
/* The meter irq: interrupts of the device, those it has and those it may request later. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/irq/irq.h"
#include "lib/core/hook.h"
#include "lib/net/queues.h"
#include "lib/read/snapshot.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

static const struct metric metrics[] = {
	COUNTER(struct irq, interrupts, .name = "interrupts",
		.unit = "interrupts", .help = "Interrupts on this CPU."),
	COUNTER(struct irq, polls, .name = "polls", .unit = "polls",
		.help = "NAPI polls on this CPU of the queues that it serves."),
	COUNTER(struct irq, packets, .name = "packets", .unit = "packets",
		.help = "Packets that these polls received."),
	COUNTER(struct irq, elsewhere, .name = "elsewhere", .unit = "polls",
		.help = "Polls caused by an interrupt on another CPU."),
	COUNTER(struct irq, unhandled, .name = "unhandled",
		.unit = "interrupts",
		.help = "Interrupts of another device on the same, shared line, or that "
			"came when the driver had done their work already."),
	HISTOGRAM(struct irq, to_poll, .name = "to_poll", .unit = "seconds",
		.scale = 1e-9, .help = "Time from an interrupt to the end of the first poll that "
			"it caused."),
	HISTOGRAM(struct irq, handler, .name = "handler", .unit = "seconds",
		.scale = 1e-9, .help = "Time in the interrupt handler."),
	{}
};

enum { LABEL_VECTOR, LABEL_SERVES, LABEL_CPU, LABEL_ALLOWED, LABEL_IRQ };
#define ALLOWED "allowed"
static const char *const labels[] = { "vector", "serves", "cpu", ALLOWED, "irq", NULL };

/* "queue 3", "rx 3", "tx 3", "all queues"; "-": for other purposes. */
static void serves_text(const struct irq_key *k, char *to, size_t size)
{
	const char *rank = k->by_rank ? " by rank" : "";

	if (k->rx == QUEUE_ALL || k->tx == QUEUE_ALL)
		snprintf(to, size, "all queues");
	else if (k->rx >= 0 && k->rx == k->tx)
		snprintf(to, size, "queue %d%s", k->rx, rank);
	else if (k->rx >= 0 && k->tx >= 0)
		snprintf(to, size, "rx %d tx %d", k->rx, k->tx);
	else if (k->rx >= 0 || k->tx >= 0)
		snprintf(to, size, "%cx %d%s", k->rx >= 0 ? 'r' : 't',
			 k->rx >= 0 ? k->rx : k->tx, rank);
	else
		snprintf(to, size, "-");
}

/* Its present affinity: "0-3". "-": it is gone. */
static void allowed_text(const struct irq_key *k, char *to, size_t size)
{
	struct cpus affinity, effective;

	vector_affinity(k->irq, &affinity, &effective);
	if (!*cpus_text(&affinity, to, size))
		snprintf(to, size, "-");
}

static void key_text(const void *key, unsigned nr, char *to, size_t size)
{
	const struct irq_key *k = key;

	switch (nr) {
	case LABEL_VECTOR:
		snprintf(to, size, "%.*s", IRQ_NAME, k->name);
		break;
	case LABEL_SERVES:
		serves_text(k, to, size);
		break;
	case LABEL_ALLOWED:
		allowed_text(k, to, size);
		break;
	default:
		snprintf(to, size, "%u", nr == LABEL_CPU ? k->cpu : k->irq);
	}
}

/* All interrupts that the device has, then those that it may request later. */
struct vectors {
	struct irq_vector *list;
	unsigned nr;
	const struct queues *queues;
};

static struct irq_vector *names_find(const struct vectors *names, const char *name)
{
	for (unsigned i = 0; i < names->nr; i++)
		if (!strncmp(names->list[i].key.name, name, IRQ_NAME - 1))
			return &names->list[i];
	return NULL;
}

static void names_add(struct vectors *names, const struct vector *v)
{
	struct irq_vector *to = &names->list[names->nr];

	if (!*v->name || names_find(names, v->name))
		return;
	*to = (struct irq_vector){ .key = { .irq = v->irq, .rx = v->rx, .tx = v->tx } };
	to->key.by_rank = names->queues->by == QUEUES_BY_RANK && names->queues->nr > 1;
	/* truncated as by bpf_probe_read_kernel_str() */
	memcpy(to->key.name, v->name, strnlen(v->name, IRQ_NAME - 1));
	names->nr++;
}

/* Adds names of this pattern for all queues that ethtool -L may create. */
static void names_like(struct vectors *names, const struct vector *one, unsigned queues)
{
	for (unsigned q = 0; one->len && q < queues; q++) {
		struct vector v = { .rx = one->rx >= 0 ? (int)q : one->rx,
				    .tx = one->tx >= 0 ? (int)q : one->tx };

		snprintf(v.name, sizeof(v.name), "%.*s%u%s", one->at, one->name, q,
			 one->name + one->at + one->len);
		names_add(names, &v);
	}
}

/* Names need not be unique: those of eth0 in another namespace may be the same. */
static void name_shared(unsigned irq, char *line, void *arg)
{
	const struct vectors *names = arg;
	const char *at = line;
	char name[VECTOR_NAME];

	for (unsigned i = 0; i < names->queues->nr; i++)
		if (names->queues->vectors[i].irq == irq)
			return;
	while (vector_next(&at, name)) {
		struct irq_vector *v = names_find(names, name);

		if (v)
			v->strict = 1;
	}
}

static unsigned most_queues(const struct site *site)
{
	return site->config.rows - 1;
}

static int names_make(const struct site *site, struct vectors *names)
{
	const struct queues *q = names->queues;
	unsigned most = most_queues(site);
	struct vector v;

	names->list = calloc(2 * q->nr + (q->nr + MAX_PATTERNS) * most + 1, sizeof(*names->list));
	if (!names->list)
		return error_set(site->error, -ENOMEM, NULL, "no memory for %u interrupts", q->nr);
	for (unsigned i = 0; i < q->nr; i++)
		names_add(names, &q->vectors[i]);
	for (unsigned i = 0; i < q->nr; i++)
		names_like(names, &q->vectors[i], most);
	for (unsigned i = 0; i < MAX_PATTERNS && site->driver->irqs[i]; i++)
		for (unsigned n = 0; n < most; n++)
			if (vector_expand(site->driver->irqs[i], site->iface.name, n, &v))
				names_add(names, &v);
	/* many drivers use this name for their only interrupt or that for other causes */
	v = (struct vector){ .rx = QUEUE_NONE, .tx = QUEUE_NONE };
	snprintf(v.name, sizeof(v.name), "%s", site->iface.name);
	names_add(names, &v);
	vectors_each(name_shared, names);
	return 0;
}

static struct bpf_map *map_of(struct bpf_object *obj, const char *name)
{
	return bpf_object__find_map_by_name(obj, name);
}

static int maps_size(const struct site *site, struct bpf_object *obj, const struct vectors *names)
{
	unsigned cpus = libbpf_num_possible_cpus(), last = 512, rows;
	const struct queues *q = names->queues;

	for (unsigned i = 0; i < q->nr; i++)
		last = q->vectors[i].irq > last ? q->vectors[i].irq : last;
	rows = (q->nr + 4) * cpus;
	rows = rows < 64 ? 64 : rows > 4096 ? 4096 : rows;
	return bpf_map__set_max_entries(map_of(obj, "irq"), rows) ?:
	       bpf_map__set_max_entries(map_of(obj, "irq_vectors"), names->nr) ?:
	       bpf_map__set_max_entries(map_of(obj, "irq_names"), names->nr) ?:
	       bpf_map__set_max_entries(map_of(obj, "irq_seen"), 2 * last) ?:
	       bpf_map__set_max_entries(map_of(obj, "irq_queue"), 2 * site->config.rows);
}

/* How many present interrupts serve receive queues only. */
static unsigned receivers(const struct queues *q)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < q->nr; i++)
		nr += q->vectors[i].rx >= 0 && q->vectors[i].tx < 0;
	return nr;
}

/*
 * Maps the queues' polls to this interrupt. A NAPI is known by its rank; drivers with NAPIs that
 * only transmit (igb with separate vectors) add them after those that receive.
 */
static int queue_fill(int fd, const struct site *site, const struct irq_key *k, __u32 place)
{
	unsigned rows = site->config.rows, behind = receivers(&site->queues) + k->tx;
	int err = 0;

	if (!k->irq)	/* not requested yet; irq_recognise() maps it at its first interrupt */
		return 0;
	if (k->rx == QUEUE_NONE && k->tx >= 0 && behind < rows)
		err = bpf_map_update_elem(fd, &behind, &place, BPF_ANY);

	for (__u32 i = 0; !err && i < 2 * rows; i++) {
		int queue = i < rows ? k->rx : k->tx;
		__u32 taken = 0;

		if (queue != QUEUE_ALL && queue != (int)(i % rows))
			continue;
		if (!bpf_map_lookup_elem(fd, &i, &taken) && !taken)
			err = bpf_map_update_elem(fd, &i, &place, BPF_ANY);
	}
	return err;
}

static int maps_fill(const struct site *site, struct bpf_object *obj, const struct vectors *names)
{
	int vectors = bpf_map__fd(map_of(obj, "irq_vectors"));
	int by_name = bpf_map__fd(map_of(obj, "irq_names"));
	int queues = bpf_map__fd(map_of(obj, "irq_queue")), err = 0;

	for (__u32 i = 0; !err && i < names->nr; i++) {
		const struct irq_vector *v = &names->list[i];

		err = bpf_map_update_elem(vectors, &i, v, BPF_ANY) ?:
		      bpf_map_update_elem(by_name, v->key.name, &i, BPF_ANY) ?:
		      queue_fill(queues, site, &v->key, i + 1);
	}
	return err;
}

static int size(const struct site *site, struct bpf_object *obj)
{
	struct vectors names = { .queues = &site->queues };
	int err = names_make(site, &names) ?: maps_size(site, obj, &names);

	free(names.list);
	return err;
}

static int fill(const struct site *site, struct bpf_object *obj)
{
	struct vectors names = { .queues = &site->queues };
	int err = names_make(site, &names);

	if (!err) {
		err = maps_fill(site, obj, &names);
		if (err)
			error_set(site->error, err, NULL, "cannot fill the maps of interrupts: %s",
				  strerror(-err));
	}
	free(names.list);
	return err;
}

static const char *absent(const struct site *site)
{
	bool named = false;

	if (!site->queues.device)
		return "software device: no hardware interrupts";
	if (!site->queues.nr)
		return "no interrupts: those of its bus (USB, VMBus) are shared with other "
		       "devices";
	for (unsigned i = 0; i < site->queues.nr; i++)
		named |= *site->queues.vectors[i].name;
	if (!named && site->driver == &driver_generic)
		return "its interrupts have no names while it is down: set it up and attach again";
	return NULL;
}

static const char *remark(const struct site *site)
{
	return text("queues %s", queues_by_text[site->queues.by]);
}

const struct meter meter_irq = {
	.name = "irq",
	.help = "interrupts by vector and CPU, and the polls they cause",
	.type = EVENT_METER,
	.by = BY_KEY,
	.point = RX_NIC,
	.row_size = sizeof(struct irq),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct irq_key),
		.labels = labels,
		.text = key_text,
		.now = ALLOWED,
	},
	.events = {
		.size = size,
		.fill = fill,
	},
	.absent = absent,
	.remark = remark,
};
