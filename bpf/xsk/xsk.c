/* SPDX-License-Identifier: GPL-2.0 */
/* The meter xsk: losses of AF_XDP sockets, from the kernel's counters of each socket. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bpf/xsk/xsk.h"
#include "lib/core/hook.h"
#include "lib/net/xsks.h"
#include "lib/proc/holders.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

extern const struct meter meter_xsk;

#define COUNT(field, ...) COUNTER(struct xsk_row, field, .name = #field, __VA_ARGS__)

static const struct metric metrics[] = {
	COUNT(rx_dropped, .unit = "packets",
	      .help = "Received packets dropped: no frame was free, or the packet did not fit."),
	COUNT(rx_invalid, .unit = "descriptors", .rare = true,
	      .help = "Invalid descriptors in the RX ring; no kernel counts any yet."),
	COUNT(rx_ring_full, .unit = "packets",
	      .help = "Received packets dropped because the program had not read its RX ring."),
	COUNT(fill_ring_empty, .unit = "events",
	      .help = "Times that the kernel needed a frame and the fill ring had none."),
	COUNT(tx_invalid, .unit = "descriptors", .rare = true,
	      .help = "Invalid TX descriptors, which the kernel did not send."),
	COUNT(tx_ring_empty, .unit = "events", .rare = true,
	      .help = "Times that the kernel emptied the TX ring, which is no loss."),
	{}
};

static const char *const labels[] = {
	"queue", "process", "pid", "socket", "uid", "mode", "umem", NULL
};

static void key_text(const void *of, unsigned nr, char *out, size_t size)
{
	const struct xsk_key *key = of;
	struct holder h = {};

	if (nr == 1 || nr == 2)
		holder_find(key->inode, &h);
	switch (nr) {
	case 0:
		snprintf(out, size, "%u", xsk_queue(key));
		break;
	case 1:
		snprintf(out, size, "%s", h.pid ? h.name : "unknown");
		break;
	case 2:
		snprintf(out, size, h.pid ? "%d" : "unknown", h.pid);
		break;
	case 3:
		snprintf(out, size, "%u", key->inode);
		break;
	case 4:
		snprintf(out, size, "%u", key->uid);
		break;
	case 5:
		snprintf(out, size, "%s", key->zero_copy ? "zero-copy" : "copy");
		break;
	default:
		snprintf(out, size, "%u", key->umem);
	}
}

const char *xsk_whose(const struct xsk_key *key)
{
	struct holder h;

	if (holder_find(key->inode, &h))
		return text("%s (pid %d)", h.name, h.pid);
	return text("uid %u (socket %u)", key->uid, key->inode);
}

static int put(struct table *t, const struct xsk *x)
{
	struct xsk_key key = {
		.queue = { x->queue >> 8, x->queue }, .zero_copy = x->zero_copy,
		.inode = x->inode, .uid = x->uid, .umem = x->umem, .rx_ring = x->rx_ring,
		.fill_ring = x->fill_ring, .cookie = x->cookie,
	};
	uint64_t *row = table_add(t, &meter_xsk, &key);

	_Static_assert(sizeof(struct xsk_row) == sizeof(x->counts), "a word for each count");
	if (!row)
		return -ENOMEM;
	memcpy(row, x->counts, sizeof(x->counts));
	return 0;
}

static int read_all(const struct meta *meta, struct table *t, struct error *e)
{
	struct xsks all;
	int err;

	xsks_read(meta->ifindex, &all);
	err = all.err;
	for (unsigned i = 0; i < all.nr && !err; i++)
		err = put(t, &all.list[i]);
	xsks_free(&all);
	if (err == -ENOENT)	/* the module xsk_diag was unloaded */
		return 0;
	return err ? error_set(e, err, NULL, "cannot ask for the AF_XDP sockets of %s: %s",
			       meta->iface, strerror(-err)) : 0;
}

static const char *absent(const struct site *site)
{
	(void)site;
	return xsks_cannot();
}

const struct meter meter_xsk = {
	.name = "xsk",
	.help = "losses of AF_XDP sockets, by queue and socket",
	.type = READ_METER,
	.by = BY_KEY,
	.point = RX_NIC,
	.row_size = sizeof(struct xsk_row),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct xsk_key),
		.labels = labels,
		.text = key_text,
		.now = "pid",
		.sorted = true,
	},
	.read = read_all,
	.cannot = xsks_cannot,
	.absent = absent,
};
