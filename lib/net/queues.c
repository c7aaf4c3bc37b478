/* SPDX-License-Identifier: GPL-2.0 */
/* Matches queues, NAPIs and interrupts: by netdev-genl, else by name, else by rank. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/net/napis.h"
#include "lib/net/netdev.h"
#include "lib/net/netlink.h"
#include "lib/net/queues.h"
#include "lib/net/sysfs.h"
#include "lib/util/grow.h"
#include "lib/util/list.h"
#include "lib/util/log.h"

const char *const queues_by_text[] = {
	[QUEUES_UNKNOWN] = "unknown",
	[QUEUES_BY_NETDEV] = "as reported by the driver (netdev-genl)",
	[QUEUES_BY_NAME] = "by the names of the interrupts",
	[QUEUES_BY_RANK] = "by the order of the interrupts",
};
ONE_EACH(queues_by_text, NR_QUEUES_BY);

static int queue_read(const struct nlmsghdr *nlh, void *arg)
{
	struct queues *q = arg;
	__u64 id = attr_number(genl_attr(nlh, NETDEV_A_QUEUE_ID), ~0ull);
	__u32 napi = attr_number(genl_attr(nlh, NETDEV_A_QUEUE_NAPI_ID), 0);
	bool tx = attr_number(genl_attr(nlh, NETDEV_A_QUEUE_TYPE), 0) == NETDEV_QUEUE_TYPE_TX;

	if (id < (tx ? q->nr_tx : q->nr_rx))
		(tx ? q->tx_napi : q->rx_napi)[id] = napi;
	return MNL_CB_OK;
}

static int queue_of(const __u32 *napis, unsigned nr, __u32 napi)
{
	for (unsigned i = 0; i < nr; i++)
		if (napi && napis[i] == napi)
			return i;
	return QUEUE_NONE;
}

static void napi_match(struct queues *q, const struct napi_instance *n)
{
	int rx = queue_of(q->rx_napi, q->nr_rx, n->id), tx = queue_of(q->tx_napi, q->nr_tx, n->id);

	for (unsigned i = 0; i < q->nr; i++) {
		struct vector *v = &q->vectors[i];

		if (!n->irq || v->irq != n->irq || (rx == QUEUE_NONE && tx == QUEUE_NONE))
			continue;
		v->rx = rx;
		v->tx = tx;
		v->told = true;
		q->by = QUEUES_BY_NETDEV;
	}
}

/* Older kernels lack this family or these commands: everything stays unknown. */
static void netdev_read(struct queues *q, unsigned ifindex)
{
	int family = netlink_family("netdev");
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *request;
	struct napis napis;

	if (family < 0)
		return;
	request = netlink_request(buf, family, NLM_F_DUMP, NETDEV_CMD_QUEUE_GET);
	mnl_attr_put_u32(request, NETDEV_A_QUEUE_IFINDEX, ifindex);
	if (netlink_ask(NETLINK_GENERIC, request, queue_read, q))
		return;
	napis_read(ifindex, &napis);
	for (unsigned i = 0; i < napis.nr; i++)
		napi_match(q, &napis.list[i]);
	napis_free(&napis);
}

/* Adds an interrupt unless it is there already. NULL: no memory. */
static struct vector *vector_add(struct queues *q, unsigned irq)
{
	struct vector *more;

	for (unsigned i = 0; i < q->nr; i++)
		if (q->vectors[i].irq == irq)
			return &q->vectors[i];
	more = grow(q->vectors, q->nr, sizeof(*more));
	if (!more)
		return NULL;
	q->vectors = more;
	more[q->nr] = (struct vector){ .irq = irq, .rx = QUEUE_NONE, .tx = QUEUE_NONE };
	return &more[q->nr++];
}

/* The interrupts of a PCI function: MSI, otherwise INTx. Returns whether it is a PCI function. */
static bool vectors_of(struct queues *q, int dir, const char *device)
{
	DIR *msi = sysfs_dir(dir, text("%s/msi_irqs", device));
	unsigned irq = sysfs_number(dir, text("%s/irq", device));
	const struct dirent *e;

	while (msi && (e = readdir(msi)))
		if (isdigit((unsigned char)*e->d_name))
			vector_add(q, strtoul(e->d_name, NULL, 10));
	if (msi)
		closedir(msi);
	else if (irq)
		vector_add(q, irq);
	return msi || !faccessat(dir, text("%s/irq", device), F_OK, 0);
}

/*
 * Selects from `names` ("eth0, ehci_hcd:usb1" on a shared line) the one of this interface: the one
 * that matches the driver's patterns or equals the interface's name; a single name is taken as is.
 */
static void vector_name(struct vector *v, const char *names, const struct driver *driver,
			const char *iface)
{
	bool only = !strchr(names, ',');
	struct vector try = *v;

	while (vector_next(&names, try.name))
		if (vector_match(driver, &try) || !strcmp(try.name, iface) || only)
			*v = try;
}

/* The state of a search through /proc/interrupts. */
struct queue_search {
	struct queues *q;
	const struct iface *iface;
	const struct driver *driver;
	const char *device;	/* for devices without interrupts in sysfs (virtio over MMIO) */
};

static bool called(const char *names, const char *device)
{
	size_t len = strlen(device);

	return len && !strncmp(names, device, len) && strchr("-", names[len]);
}

static void name_read(unsigned irq, char *names, void *arg)
{
	const struct queue_search *s = arg;
	struct queues *q = s->q;

	if (s->device && (called(names, s->device) || called(names, s->iface->name)))
		vector_add(q, irq);
	for (unsigned n = 0; n < q->nr; n++)
		if (q->vectors[n].irq == irq)
			vector_name(&q->vectors[n], names, s->driver, s->iface->name);
}

static int by_irq(const void *a, const void *b)
{
	const struct vector *x = a, *y = b;

	return x->irq < y->irq ? -1 : x->irq > y->irq;
}

static void vectors_read(struct queues *q, const struct iface *i, const struct driver *driver)
{
	int dir = sysfs_open(i->name, i->ifindex);
	struct queue_search search = { q, i, driver, NULL };
	char device[64] = "";
	ssize_t len;

	if (dir < 0)
		return;
	len = readlinkat(dir, "device", device, sizeof(device) - 1);
	device[len > 0 ? len : 0] = '\0';
	/* for virtio, the PCI function is one level further up */
	if (*device && !vectors_of(q, dir, "device"))
		vectors_of(q, dir, "device/..");
	close(dir);
	q->device = *device;
	if (!q->nr)
		search.device = basename(device);
	if (*device)
		vectors_each(name_read, &search);
	if (q->nr)
		qsort(q->vectors, q->nr, sizeof(*q->vectors), by_irq);
}

void vectors_halve(struct queues *q, unsigned rx_queues, unsigned tx_queues)
{
	int half = 0;

	for (unsigned n = 0; n < q->nr; n++)
		half += q->vectors[n].half;
	half /= 2;
	for (unsigned n = 0; n < q->nr; n++) {
		struct vector *v = &q->vectors[n];

		if (!v->half)
			continue;
		v->half = false;
		v->rx = v->tx >= half && v->tx - half < (int)rx_queues ? v->tx - half : QUEUE_NONE;
		v->tx = v->tx < half && v->tx < (int)tx_queues ? v->tx : QUEUE_NONE;
	}
}

void vectors_own(struct queues *q)
{
	for (unsigned n = 0; n < q->nr; n++) {
		const struct vector *own = &q->vectors[n];

		for (unsigned i = 0; i < q->nr && !own->told; i++) {
			struct vector *v = &q->vectors[i];

			if (v->told && v->rx >= 0 && v->rx == own->rx)
				v->rx = QUEUE_NONE;
			if (v->told && v->tx >= 0 && v->tx == own->tx)
				v->tx = QUEUE_NONE;
		}
	}
}

struct napi_order queues_order(const struct queues *q)
{
	static const struct napi_order none;
	struct napi_order o = {};
	int rx = 0, tx = 0;

	for (unsigned n = 0; n < q->nr; n++) {
		const struct vector *v = &q->vectors[n];

		if (v->rx < 0 && v->tx < 0)
			continue;
		if (v->rx >= 0 && v->tx >= 0)
			return none;
		if (v->rx >= 0 && !rx)
			o.first = o.all;
		if (v->rx >= 0 ? v->rx != rx || o.all != o.first + rx++ : v->tx != tx++)
			return none;
		o.all++;
	}
	o.rx = rx;
	return rx && tx && (!o.first || o.first == (unsigned)tx) ? o : none;
}

/* Uninformative names: a single interrupt serves all queues; one per queue are taken in order. */
static void rank(struct queues *q, const struct iface *i)
{
	unsigned most = i->rx_queues > i->tx_queues ? i->rx_queues : i->tx_queues;
	unsigned named = 0;

	for (unsigned n = 0; n < q->nr; n++)
		named += !!*q->vectors[n].name;
	if (named != q->nr || !named || (named > 1 && named != most))
		return;
	q->by = QUEUES_BY_RANK;
	for (unsigned n = 0; n < q->nr; n++) {
		struct vector *v = &q->vectors[n];

		v->rx = named > 1 || i->rx_queues == 1 ? (int)n : QUEUE_ALL;
		v->tx = named > 1 || i->tx_queues == 1 ? (int)n : QUEUE_ALL;
		v->rx = v->rx < (int)i->rx_queues ? v->rx : QUEUE_NONE;
		v->tx = v->tx < (int)i->tx_queues ? v->tx : QUEUE_NONE;
	}
}

int queues_read(const struct iface *i, const struct driver *driver, struct queues *q)
{
	*q = (struct queues){ .nr_rx = i->max_rx_queues, .nr_tx = i->max_tx_queues };
	q->rx_napi = calloc(q->nr_rx, sizeof(*q->rx_napi));
	q->tx_napi = calloc(q->nr_tx, sizeof(*q->tx_napi));
	if (!q->rx_napi || !q->tx_napi) {
		queues_free(q);
		return -ENOMEM;
	}
	vectors_read(q, i, driver);
	for (unsigned n = 0; n < q->nr; n++)
		if (vector_match(driver, &q->vectors[n]))
			q->by = QUEUES_BY_NAME;
	vectors_halve(q, i->rx_queues, i->tx_queues);
	netdev_read(q, i->ifindex);
	vectors_own(q);
	if (!q->by)
		rank(q, i);
	return 0;
}

void queues_free(struct queues *q)
{
	free(q->vectors);
	free(q->rx_napi);
	free(q->tx_napi);
	*q = (struct queues){};
}
