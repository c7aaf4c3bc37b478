/* SPDX-License-Identifier: GPL-2.0 */
/* Parsing answers about AF_XDP sockets, whole and truncated; and findings about their losses. */
#include <errno.h>
#include <linux/sock_diag.h>
#include <linux/xdp_diag.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libmnl/libmnl.h>

#include "bpf/xsk/xsk.h"
#include "lib/net/xsks.h"
#include "lib/proc/holders.h"
#include "lib/read/baseline.h"

#define SUBJECT "xsk "
#include "judge.h"
#include "made.h"

#define FAR 4000000000	/* inodes that no socket of this machine has */

static struct nlmsghdr *begin(char *buf, unsigned family, unsigned inode)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct xdp_diag_msg *msg = mnl_nlmsg_put_extra_header(nlh, sizeof(*msg));

	nlh->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	*msg = (struct xdp_diag_msg){ .xdiag_family = family, .xdiag_type = SOCK_RAW,
				      .xdiag_ino = inode, .xdiag_cookie = { 5, 1 } };
	return nlh;
}

/* As xsk_diag_fill() builds it. */
static struct nlmsghdr *answer(char *buf, unsigned ifindex, unsigned queue, unsigned inode)
{
	struct nlmsghdr *nlh = begin(buf, AF_XDP, inode);
	struct xdp_diag_info info = { .ifindex = ifindex, .queue_id = queue };
	struct xdp_diag_umem umem = { .id = 3, .size = 1 << 20, .num_pages = 256,
				      .chunk_size = 2048, .ifindex = ifindex, .queue_id = queue,
				      .flags = XDP_DU_F_ZEROCOPY, .refs = 1 };
	struct xdp_diag_stats stats = { 1, 2, 3, 4, 5, 1ull << 40 };

	mnl_attr_put(nlh, XDP_DIAG_INFO, sizeof(info), &info);
	mnl_attr_put_u32(nlh, XDP_DIAG_UID, 1000);
	mnl_attr_put_u32(nlh, XDP_DIAG_RX_RING, 64);
	mnl_attr_put_u32(nlh, XDP_DIAG_TX_RING, 32);
	mnl_attr_put(nlh, XDP_DIAG_UMEM, sizeof(umem), &umem);
	mnl_attr_put_u32(nlh, XDP_DIAG_UMEM_FILL_RING, 128);
	mnl_attr_put_u32(nlh, XDP_DIAG_UMEM_COMPLETION_RING, 256);
	mnl_attr_put(nlh, XDP_DIAG_STATS, sizeof(stats), &stats);
	return nlh;
}

static void whole(void)
{
	struct xsks all = { .ifindex = 7 };
	char buf[4096] = {};
	const struct xsk *x;

	same("an answer", xsks_take(answer(buf, 7, 70000, 4711), &all), MNL_CB_OK);
	same("is a socket", all.nr, 1);
	x = all.list;
	holds(x->inode == 4711 && x->cookie == (1ull << 32 | 5) && x->uid == 1000, "whose");
	holds(x->queue == 70000 && x->umem == 3 && x->zero_copy, "where");
	holds(x->rx_ring == 64 && x->tx_ring == 32 && x->fill_ring == 128 &&
	      x->completion_ring == 256, "rings");
	holds(x->counts[XSK_RX_DROPPED] == 1 && x->counts[XSK_RX_INVALID] == 2 &&
	      x->counts[XSK_RX_RING_FULL] == 3 && x->counts[XSK_FILL_RING_EMPTY] == 4 &&
	      x->counts[XSK_TX_INVALID] == 5 && x->counts[XSK_TX_RING_EMPTY] == 1ull << 40,
	      "counts, of 64 bits");
	memset(buf, 0, sizeof(buf));
	xsks_take(answer(buf, 8, 0, 4712), &all);
	memset(buf, 0, sizeof(buf));
	xsks_take(answer(buf, 0, 0, 4713), &all);
	memset(buf, 0, sizeof(buf));
	xsks_take(begin(buf, AF_XDP, 4714), &all);
	memset(buf, 0, sizeof(buf));
	xsks_take(begin(buf, AF_INET, 4715), &all);
	same("of another interface, of none, without a place, of another family: left out", all.nr,
	     1);
	xsks_free(&all);
}

/* With each attribute truncated to each length, only existing bytes are read. */
static void cut(void)
{
	char buf[4096] = {};
	struct nlmsghdr *nlh = answer(buf, 7, 1, 4711);
	unsigned taken = 0, wrong = 0;

	for (unsigned len = 0; len <= nlh->nlmsg_len; len++) {
		/* as in netlink_ask(), zeros up to the alignment: ASan checks the rest */
		char *copy = calloc(1, NLMSG_ALIGN(len) ?: 1);
		struct xsks all = { .ifindex = 7 };

		memcpy(copy, buf, len);
		if (len >= sizeof(*nlh)) {
			((struct nlmsghdr *)(void *)copy)->nlmsg_len = len;
			wrong += xsks_take((void *)copy, &all) != MNL_CB_OK;
		}
		taken += all.nr;
		wrong += all.nr && (all.list->queue != 1 || all.list->inode != 4711);
		xsks_free(&all);
		free(copy);
	}
	same("cut anywhere: nothing made up", wrong, 0);
	check(taken > 100, "cut behind its place: still a socket", text("%u", taken));
}

/* An attribute that is too short is skipped; ASan detects reads beyond it. */
static void brief(void)
{
	for (unsigned type = XDP_DIAG_UID; type <= XDP_DIAG_MAX; type++) {
		struct xsks all = { .ifindex = 7 };
		char buf[256] = {}, *copy;
		struct nlmsghdr *nlh = begin(buf, AF_XDP, 4711);
		const struct xsk *x;

		mnl_attr_put(nlh, XDP_DIAG_INFO, 8, &(struct xdp_diag_info){ 7, 1 });
		mnl_attr_put(nlh, type, 3, "\xff\xff\xff");
		copy = malloc(nlh->nlmsg_len);
		memcpy(copy, buf, nlh->nlmsg_len);
		xsks_take((void *)copy, &all);
		x = all.list;
		check(all.nr == 1 && !x->uid && !x->umem && !x->zero_copy && !x->rx_ring &&
		      !x->tx_ring && !x->fill_ring && !x->completion_ring && !x->counts[0] &&
		      !x->counts[NR_XSK_COUNTS - 1], text("attribute %u of 3 bytes", type),
		      "it was taken");
		xsks_free(&all);
		free(copy);
	}
}

static void holder(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct holder h = {};
	struct stat st = {};

	fstat(fd, &st);
	holds(holder_find(st.st_ino, &h) && h.pid == getpid() && !strcmp(h.name, "xsk_test"),
	      "the process that has a socket");
	close(fd);
	holds(!holder_find(st.st_ino, &h) && !h.pid && !*h.name, "closed: nobody has it");
}

static void put(struct table *t, unsigned queue, unsigned inode, uint64_t cookie, bool zero_copy,
		struct xsk_row row)
{
	struct xsk_key key = {
		.queue = { queue >> 8, queue }, .zero_copy = zero_copy, .inode = FAR + inode,
		.uid = 1000, .umem = 3, .rx_ring = 64, .fill_ring = 128, .cookie = cookie,
	};
	uint64_t *to = table_add(t, &meter_xsk, &key);

	memcpy(to, &row, sizeof(row));
}

static struct table table(void)
{
	return (struct table){ .cpus = 1, .words = sizeof(struct xsk_row) / 8 };
}

static void less(const struct meter *m, uint64_t *now, const uint64_t *then)
{
	for (unsigned i = 0; i < m->row_size / 8; i++)
		now[i] -= then[i];
}

/* A socket that reuses the inode of another counts from 0. */
static void anew(void)
{
	struct table then = table(), now = table();

	put(&then, 0, 4711, 1, false, (struct xsk_row){ .rx_dropped = 100 });
	put(&then, 1, 4712, 2, false, (struct xsk_row){ .rx_dropped = 100 });
	put(&now, 0, 4711, 3, false, (struct xsk_row){ .rx_dropped = 130 });
	put(&now, 1, 4712, 2, false, (struct xsk_row){ .rx_dropped = 130 });
	table_since(&meter_xsk, &now, NULL, &then, less);
	holds(now.rows == 2 && now.cells[0] == 130 && now.cells[now.words] == 30 && now.changed,
	      "made anew, with the inode of the old one");
	free(then.cells);
	free(then.keys);
	free(now.cells);
	free(now.keys);
}

struct one {
	unsigned queue, inode;
	bool zero_copy;
	struct xsk_row row;
};

static void findings(void)
{
	static const struct {
		const char *name, *id, *what;
		unsigned missed;
		struct one sockets[3];
	} list[] = {
		{ "nothing", NULL, NULL, 0, { { 0, 1, false, {} } } },
		{ "the end of the TX ring, descriptors refused", NULL, NULL, 0,
		  { { 0, 1, false, { .tx_ring_empty = 9000, .tx_invalid = 50 } } } },
		{ "too long for a frame", NULL, NULL, 0,
		  { { 0, 1, false, { .rx_dropped = 9000 } } } },
		{ "nine packets", NULL, NULL, 0,
		  { { 0, 1, false, { .rx_dropped = 9, .fill_ring_empty = 9,
				     .rx_ring_full = 9 } } } },
		{ "no frame", "xsk-fill-empty", "10 packets were dropped for the AF_XDP socket of "
		  "uid 1000 (socket 4000000001) on queue 0: its fill ring of 128 frames was empty",
		  0,
		  { { 0, 1, false, { .rx_dropped = 10, .fill_ring_empty = 10 } } } },
		{ "no frame, and too long", "xsk-fill-empty", "30 packets", 0,
		  { { 0, 1, false, { .rx_dropped = 50, .fill_ring_empty = 30 } } } },
		{ "no frame, and the fill ring is another's, too", "xsk-fill-empty",
		  "20 packets were dropped for the AF_XDP socket of uid 1000 (socket 4000000002)",
		  0,
		  { { 0, 1, false, { .rx_dropped = 10, .fill_ring_empty = 30 } },
		    { 0, 2, false, { .rx_dropped = 20, .fill_ring_empty = 30 } } } },
		{ "not read", "xsk-rx-full", "12 packets were dropped for the AF_XDP socket of uid "
		  "1000 (socket 4000000004) on queue 300: its RX ring of 64 descriptors was full",
		  0,
		  { { 1, 1, false, {} }, { 300, 4, false, { .rx_ring_full = 12 } } } },
		{ "zero copy, and the card has frames", NULL, NULL, 0,
		  { { 0, 1, true, { .fill_ring_empty = 9000 } } } },
		{ "zero copy", "xsk-fill-empty", "77 packets found no room in the card", 77,
		  { { 0, 1, true, { .fill_ring_empty = 9000 } } } },
	};

	for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++) {
		struct made *m = made("veth");

		m->s.seconds = 2;
		m->s.tables[METER_xsk] = table();
		if (list[i].missed)
			said(m, "rx_missed", 0, list[i].missed);
		for (unsigned k = 0; k < 3 && list[i].sockets[k].inode; k++)
			put(&m->s.tables[METER_xsk], list[i].sockets[k].queue,
			    list[i].sockets[k].inode, k, list[i].sockets[k].zero_copy,
			    list[i].sockets[k].row);
		judge_all(&m->s, setup_unknown());
		if (list[i].missed)	/* its consequence is folded under it */
			holds(findings_count(&m->s.findings, SEVERITY_INFO) == 1 &&
			      finding_find(&m->s.findings, "rx-ring-full"), "zero copy: the card's "
			      "own loss follows from it");
		else
			same(text("%s: findings", list[i].name), m->s.findings.nr, !!list[i].id);
		check(!list[i].id || (!strcmp(m->s.findings.list->kind->id, list[i].id) &&
				      strstr(m->s.findings.list->what, list[i].what)),
		      list[i].name, m->s.findings.nr ? m->s.findings.list->what : "nothing");
		done(m);
	}
}

static void ledger(void)
{
	struct made *m = made("veth");

	m->s.tables[METER_xsk] = table();
	put(&m->s.tables[METER_xsk], 1, 1, 1, false, (struct xsk_row){
	    .rx_dropped = 7, .rx_ring_full = 5, .fill_ring_empty = 6, .tx_invalid = 2 });
	put(&m->s.tables[METER_xsk], 2, 2, 2, false, (struct xsk_row){ .rx_ring_full = 100 });
	for (int q = 1; q < 3; q++) {
		seen(m, RX_NIC, q, 1000, 1);
		said(m, "rx_packets", q, 1000);
		said(m, "tx_packets", q, 1000);
	}
	same("ledger: received, of a queue", find(m, false, 1)->af_xdp, 12);
	same("ledger: sent", find(m, true, 1)->af_xdp, 2);
	same("ledger: received, of all", find(m, false, LEDGER_ALL)->af_xdp, 112);
	done(m);
}

/*
 * Packets that the driver counted and we did not may have gone to AF_XDP: the finding names the
 * sockets.
 */
static void unseen(void)
{
	static const char *const words[] = {
		"AF_XDP may have taken them (queue 1: uid 1000 (socket 4000000001) and 1 more)",
		"AF_XDP (queue 1: uid 1000 (socket 4000000001) and 1 more), pktgen",
	};

	for (int tx = 0; tx < 2; tx++) {
		struct made *m = made("veth");

		m->s.seconds = 1;
		m->s.tables[METER_xsk] = table();
		put(&m->s.tables[METER_xsk], 1, 1, 1, true, (struct xsk_row){});
		put(&m->s.tables[METER_xsk], 2, 2, 2, true, (struct xsk_row){});
		seen(m, tx ? TX_NIC : RX_NIC, 1, 100, 1);
		seen(m, tx ? TX_STACK : RX_STACK, 1, 100, 1);
		for (int q = 1; q < 3; q++) {
			said(m, tx ? "tx_packets" : "rx_packets", q, 9000);
			said(m, tx ? "tx_bytes" : "rx_bytes", q, 9000000);
		}
		find(m, tx, 1);
		m->s.tables[METER_ledger] = m->out;
		m->out = (struct table){};
		finds(&m->s, setup_unknown(), tx ? "unseen, sent" : "unseen, received",
		      tx ? "unseen-sent" : "unseen-received", NULL, words[tx]);
		done(m);
	}
}

int main(void)
{
	whole();
	cut();
	brief();
	holder();
	anew();
	findings();
	ledger();
	unseen();
	return failed > 0;
}
