/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the AF_XDP sockets of an interface by NETLINK_SOCK_DIAG. */
#include <errno.h>
#include <linux/sock_diag.h>
#include <linux/xdp_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/kernel/feature.h"
#include "lib/net/netlink.h"
#include "lib/net/xsks.h"
#include "lib/util/grow.h"

#define MOST	4096	/* sockets of an interface: at least as many as it can have queues */

static void counts_take(const struct nlattr *attr, struct xsk *x)
{
	struct xdp_diag_stats s = {};

	attr_bytes(attr, &s, sizeof(s));
	x->counts[XSK_RX_DROPPED] = s.n_rx_dropped;
	x->counts[XSK_RX_INVALID] = s.n_rx_invalid;
	x->counts[XSK_RX_RING_FULL] = s.n_rx_full;
	x->counts[XSK_FILL_RING_EMPTY] = s.n_fill_ring_empty;
	x->counts[XSK_TX_INVALID] = s.n_tx_invalid;
	x->counts[XSK_TX_RING_EMPTY] = s.n_tx_ring_empty;
}

static bool add(struct xsks *all, const struct xsk *x)
{
	struct xsk *more = grow(all->list, all->nr, sizeof(*more));

	if (!more)
		return false;
	all->list = more;
	more[all->nr++] = *x;
	return true;
}

/*
 * An unbound socket has index 0. Since 6.6 the index of a removed device is gone as well, and the
 * dump ends there: older sockets of the namespace are missing (xsk_diag_fill()).
 */
int xsks_take(const struct nlmsghdr *nlh, void *xsks)
{
	const struct xdp_diag_msg *msg = mnl_nlmsg_get_payload(nlh);
	struct xdp_diag_info info = {};
	struct xdp_diag_umem umem = {};
	struct xsks *all = xsks;
	struct xsk x = {};

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*msg) || msg->xdiag_family != AF_XDP)
		return MNL_CB_OK;
	x.inode = msg->xdiag_ino;
	x.cookie = (__u64)msg->xdiag_cookie[1] << 32 | msg->xdiag_cookie[0];
#define TAKE(type, to)	attr_bytes(attr_of(nlh, sizeof(*msg), type), &(to), sizeof(to))
	TAKE(XDP_DIAG_INFO, info);
	TAKE(XDP_DIAG_UID, x.uid);
	TAKE(XDP_DIAG_RX_RING, x.rx_ring);
	TAKE(XDP_DIAG_TX_RING, x.tx_ring);
	TAKE(XDP_DIAG_UMEM_FILL_RING, x.fill_ring);
	TAKE(XDP_DIAG_UMEM_COMPLETION_RING, x.completion_ring);
	TAKE(XDP_DIAG_UMEM, umem);
#undef TAKE
	if (!info.ifindex || info.ifindex != all->ifindex || all->nr == MOST)
		return MNL_CB_OK;
	x.queue = info.queue_id;
	x.umem = umem.id;
	x.zero_copy = umem.flags & XDP_DU_F_ZEROCOPY;
	counts_take(attr_of(nlh, sizeof(*msg), XDP_DIAG_STATS), &x);
	if (add(all, &x))
		return MNL_CB_OK;
	errno = ENOMEM;
	return MNL_CB_ERROR;
}

static int ask(struct xsks *all)
{
	char buf[256];
	struct xdp_diag_req *request = netlink_begin(buf, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP,
						     sizeof(*request));

	request->sdiag_family = AF_XDP;
	request->xdiag_show = XDP_SHOW_INFO | XDP_SHOW_RING_CFG | XDP_SHOW_UMEM | XDP_SHOW_STATS;
	return netlink_ask(NETLINK_SOCK_DIAG, (void *)buf, xsks_take, all);
}

/* Does this namespace have AF_XDP sockets? /proc has their number even without sock_diag. */
static bool any(void)
{
	FILE *f = fopen("/proc/net/protocols", "re");
	char line[160], name[16];
	int sockets = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%15s %*d %d", name, &sockets) == 2 && !strcmp(name, "XDP"))
			break;
		else
			sockets = -1;
	if (f)
		fclose(f);
	return sockets;		/* unknown: assume there are some */
}

static int by_queue(const void *a, const void *b)
{
	const struct xsk *x = a, *y = b;

	if (x->queue != y->queue)
		return x->queue < y->queue ? -1 : 1;
	return x->inode < y->inode ? -1 : x->inode > y->inode;
}

/* Asks only if there are sockets: each request would try to load the sock_diag module. */
void xsks_read(unsigned ifindex, struct xsks *all)
{
	*all = (struct xsks){ .ifindex = ifindex };
	if (!any())
		return;
	all->err = kernel_lacks(FEATURE_XSK_DIAG) ? -ENOENT : ask(all);
	if (all->nr)
		qsort(all->list, all->nr, sizeof(*all->list), by_queue);
}

void xsks_free(struct xsks *all)
{
	free(all->list);
	*all = (struct xsks){};
}

const char *xsks_cannot(void)
{
	static int known = 1;
	struct xsks none = {};

	if (kernel_lacks(FEATURE_XSK_DIAG))
		return kernel_lacks(FEATURE_XSK_DIAG);
	if (known > 0)
		known = ask(&none);
	xsks_free(&none);
	return known == -ENOENT || known == -EINVAL || known == -EPROTONOSUPPORT ?
	       "this kernel does not report AF_XDP sockets (CONFIG_XDP_SOCKETS_DIAG)" : NULL;
}
