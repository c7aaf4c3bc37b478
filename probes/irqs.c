/* SPDX-License-Identifier: GPL-2.0 */
/* Tells programs which interrupts are of which interface and queue: by names of their handlers. */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/net/queues.h"
#include "lib/util/error.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"
#include "probes/told.h"
#include "probes/tracing.h"

struct named_irq {
	struct irq_handler handler;
	struct irq_known known;
	unsigned irq;
};

struct named_irqs {
	struct named_irq *list;
	unsigned nr;
	const char *why;	/* the last interface has none; NULL: it has */
};

/* As the meter irq has it: "queue 3", "rx 3", "tx 3", "all queues"; "-". */
static void serves_text(const struct vector *v, char *to, size_t size)
{
	if (v->rx == QUEUE_ALL || v->tx == QUEUE_ALL)
		snprintf(to, size, "all queues");
	else if (v->rx >= 0 && v->rx == v->tx)
		snprintf(to, size, "%s", text("queue %d", v->rx));
	else if (v->rx >= 0 && v->tx >= 0)
		snprintf(to, size, "%s", text("rx %d tx %d", v->rx, v->tx));
	else if (v->rx >= 0 || v->tx >= 0)
		snprintf(to, size, "%s", text("%cx %d", v->rx >= 0 ? 'r' : 't',
					      v->rx >= 0 ? v->rx : v->tx));
	else
		snprintf(to, size, "-");
}

/* The only queue that it serves; -1: there is no such. */
static int queue_of(const struct vector *v)
{
	if (v->rx == v->tx || v->tx == QUEUE_NONE)
		return v->rx >= 0 ? v->rx : -1;
	return v->rx == QUEUE_NONE && v->tx >= 0 ? v->tx : -1;
}

static struct named_irq *handler_find(const struct named_irqs *all, const char *name)
{
	for (unsigned i = 0; i < all->nr; i++)
		if (!strncmp(all->list[i].handler.name, name, sizeof(struct irq_handler) - 1))
			return &all->list[i];
	return NULL;
}

static int vector_add(struct named_irqs *all, const struct iface *i, const struct vector *v)
{
	struct named_irq *list, *to;

	if (!*v->name || handler_find(all, v->name))
		return 0;
	list = grow(all->list, all->nr, sizeof(*list));
	if (!list)
		return -ENOMEM;
	all->list = list;
	to = &list[all->nr++];
	*to = (struct named_irq){ .irq = v->irq };
	to->known.ifindex = i->ifindex;
	to->known.queue = queue_of(v);
	/* cut as by bpf_probe_read_kernel_str() */
	memcpy(to->handler.name, v->name, strnlen(v->name, sizeof(to->handler.name) - 1));
	memcpy(to->known.if_name, i->name, sizeof(to->known.if_name));
	serves_text(v, to->known.serves, sizeof(to->known.serves));
	return 0;
}

static int iface_add(struct named_irqs *all, const char *name)
{
	unsigned before = all->nr;
	struct queues q;
	struct iface i;
	int err = 0;

	if (iface_read(name, &i, NULL))
		return 0;	/* it went */
	if (queues_read(&i, driver_find(i.driver), &q))
		return -ENOMEM;
	for (unsigned v = 0; !err && v < q.nr; v++)
		err = vector_add(all, &i, &q.vectors[v]);
	all->why = all->nr > before ? NULL :
		   !q.device ? "it is software, and has no hardware interrupts" :
		   !q.nr ? "those of its bus (USB, VMBus) are shared with other devices" :
		   "they have no names while it is down";
	queues_free(&q);
	return err;
}

/* Names need not be unique: those of eth0 in another namespace may be the same. */
static void name_shared(unsigned irq, char *line, void *arg)
{
	const struct named_irqs *all = arg;
	const char *at = line;
	char name[VECTOR_NAME];

	while (vector_next(&at, name)) {
		struct named_irq *n = handler_find(all, name);

		if (n && n->irq != irq)
			n->known.only = n->irq;
	}
}

static int gather_all(struct named_irqs *all, __u32 ifindex)
{
	struct if_nameindex *names = if_nameindex();
	int err = names ? 0 : -errno;

	for (unsigned i = 0; !err && names[i].if_index; i++)
		if (!ifindex || names[i].if_index == ifindex)
			err = iface_add(all, names[i].if_name);
	if (names)
		if_freenameindex(names);
	return err;
}

/* None has interrupts: a pattern goes without them, a question for them is refused. */
static int none_known(struct tracing *t, __u32 ifindex, const char *why, struct error *e)
{
	if (!(t->question->named >> PROBE_nic_irq & 1)) {
		t->lacking |= probe_bit(PROBE_nic_irq);
		t->serving[PROBE_nic_irq] = NULL;
		return 0;
	}
	if (!ifindex || !why)
		return error_set(e, -EOPNOTSUPP, NULL, "nic:::irq: no interface of this network "
				 "namespace has interrupts of its own");
	return error_set(e, -EOPNOTSUPP, NULL, "nic:::irq: the interface has no interrupts of its "
			 "own: %s", why);
}

int irqs_tell(struct tracing *t, __u32 ifindex, struct error *e)
{
	int fd = bpf_map__fd(t->skel->maps.irqs), err;
	struct named_irqs all = {};

	err = gather_all(&all, ifindex);
	vectors_each(name_shared, &all);
	for (unsigned i = 0; !err && i < all.nr; i++)
		if (bpf_map_update_elem(fd, &all.list[i].handler, &all.list[i].known, BPF_ANY))
			err = -errno;
	if (err)
		error_set(e, err, NULL, "cannot tell whose interrupts are whose: %s",
			  strerror(-err));
	else if (!all.nr)
		err = none_known(t, ifindex, all.why, e);
	free(all.list);
	return err;
}
