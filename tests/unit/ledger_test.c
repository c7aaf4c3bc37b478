/* SPDX-License-Identifier: GPL-2.0 */
/* The ledger of made-up snapshots: formulas, discrepancies, and readings at two moments. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/hwstat/hwstat.h"
#include "bpf/ledger/ledger_ways.h"
#include "bpf/txlat/txlat.h"
#include "lib/read/derived.h"
#include "lib/read/thinned.h"
#include "lib/util/log.h"
#include "made.h"

#define SUBJECT "ledger "
#include "judge.h"

static void residue(const char *name, const struct ledger *l, int64_t packets, int64_t bytes)
{
	uint64_t within;

	same(text("%s: packets", name), left(l, "residue", &within), packets);
	same(text("%s: packets are exact", name), within, 0);
	same(text("%s: bytes", name), left(l, "residue_bytes", &within), bytes);
	same(text("%s: bytes are exact", name), within, 0);
}

/* 10 buffers of 4 packets and 5 of one, and what each driver counts for them. */
static void formulas(void)
{
	static const struct {
		const char *driver;
		int queue;
		uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
	} list[] = {	/* wire: 45 packets, 45000 bytes; buffers: 15, 10 * 3 * 66 less */
		{ "virtio_net", 0, 15, 43020, 15, 43020 },
		{ "ena", 1, 15, 43020 - 15 * 14, 15, 43020 },
		{ "igb", 3, 15, 43020, 45, 45007 },
		{ "mlx5_core", 0, 45, 43020, 45, 45007 },
		{ "e1000", -1, 15, 43020, 45, 43020 + 10 * 3 * 100 + 7 },
		{ "igbvf", -1, 15, 43020, 45, 43020 + 10 * 3 * 100 },
		{ "e1000e", -1, 15, 43020 + 15 * 4, 45, 45000 + 45 * 4 + 7 },
		{ "e1000e", -1, 15, 43020 + 15 * 4, 15, 43020 + 15 * 4 },
		{ "vmxnet3", 2, 15, 43020, 15, 43020 },
		{ "veth", -1, 15, 43020, 15, 43020 },
		{ "veth", -1, 15, 43020 - 15 * 14, 15, 43020 - 15 * 14 },
		{ "gve", -1, 15, 43020, 15, 43020 },
		{ "strange", -1, 45, 45000, 45, 45000 },
		{ "strange", -1, 15, 43020 - 15 * 14, 15, 43020 - 15 * 14 },
		{}
	};

	for (int i = 0; list[i].driver; i++) {
		struct made *m = made(list[i].driver);
		int q = list[i].queue < 0 ? 0 : list[i].queue;

		for (int tx = 0; tx < 2; tx++) {
			seen(m, tx ? TX_NIC : RX_NIC, q, 10, 4);
			seen(m, tx ? TX_NIC : RX_NIC, q, 5, 1);
			seen(m, tx ? TX_STACK : RX_STACK, q, 5, 1);
			seen(m, tx ? TX_STACK : RX_STACK, q, 5, 8);
		}
		for (int late = 0; late < 2; late++) {
			row(late ? &m->late : &m->s, TX_NIC, q)->linear = 10 * 3 * 100;
			row(late ? &m->late : &m->s, TX_NIC, q)->padding = 7;
		}
		said(m, "rx_packets", list[i].queue, list[i].rx_packets);
		said(m, "rx_bytes", list[i].queue, list[i].rx_bytes);
		said(m, "tx_packets", list[i].queue, list[i].tx_packets);
		said(m, "tx_bytes", list[i].queue, list[i].tx_bytes);
		for (int tx = 0; tx < 2; tx++) {
			const struct ledger *l = find(m, tx, list[i].queue < 0 ? LEDGER_ALL :
						      (unsigned)list[i].queue);

			residue(text("%s %s", list[i].driver, tx ? "tx" : "rx"), l, 0, 0);
			same("what the stack has", l->stack, 45);
			same("what the driver has", l->driver, tx ? list[i].tx_packets :
			     list[i].rx_packets);
		}
		done(m);
	}
}

/* Two queues, one of which has lost packets; and a third without driver counters. */
static void by_queue(void)
{
	struct made *m = made("igb");

	for (unsigned q = 0; q < 2; q++) {
		seen(m, RX_NIC, q, 100, 1);
		seen(m, RX_STACK, q, q ? 100 : 90, 1);
		said(m, "rx_packets", q, q ? 103 : 100);
		said(m, "rx_bytes", q, q ? 103000 : 100000);
	}
	said(m, "rx_card_packets", -1, 210);
	residue("a queue", find(m, false, 0), 0, 0);
	residue("a queue that misses", find(m, false, 1), 3, 3000);
	residue("all queues", find(m, false, LEDGER_ALL), 3, 3000);
	same("the card", find(m, false, LEDGER_ALL)->hardware, 210);
	same("rows", m->out.rows, 3);
	same("between", left(find(m, false, 0), "between", &(uint64_t){ 0 }), 10);
	done(m);
	m = made("ixgbevf");	/* of unknown queues */
	seen(m, RX_NIC, QUEUES, 100, 1);
	for (unsigned q = 0; q < 2; q++) {
		said(m, "rx_packets", q, 50);
		said(m, "rx_bytes", q, 50000);
	}
	for (unsigned q = 0; q < 2; q++)
		same("queue unknown", left(find(m, false, q), "residue", &(uint64_t){ 0 }), 0);
	residue("queue unknown, all", find(m, false, LEDGER_ALL), 0, 0);
	done(m);
}

/* Queues that are added later had counted before: the growth shows in the driver's total. */
static void later(void)
{
	struct made *m = made("virtio_net");

	for (unsigned q = 0; q < 4; q++)
		seen(m, RX_NIC, q, 100, 1);
	for (unsigned q = 0; q < 2; q++) {	/* the others were left out */
		said(m, "rx_packets", q, 100);
		said(m, "rx_bytes", q, 100000);
	}
	said(m, "rx_packets", -1, 400);
	said(m, "rx_bytes", -1, 400000);
	m->s.tables[METER_hwstat].changed = true;
	residue("queues that came later", find(m, false, LEDGER_ALL), 0, 0);
	same("queues that came later: all of it", find(m, false, LEDGER_ALL)->driver, 400);
	residue("a queue that was there", find(m, false, 1), 0, 0);
	same("queues that came later have no row", m->out.rows, 3);
	done(m);
}

/* A veth: some packets by its NAPI, some not; and a number that no mix of those explains. */
static void mixed(void)
{
	static const struct { int less, left; } list[] = {
		{ 0, 0 }, { 140, 0 }, { 14 * 30, 0 }, { 14 * 100, 0 }, { 1410, -10 }, { -10, 10 },
	};

	for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++)
		for (int tx = 0; tx < 2; tx++) {
			struct made *m = made("veth");

			seen(m, tx ? TX_NIC : RX_NIC, 0, 100, 1);
			said(m, tx ? "tx_packets" : "rx_packets", -1, 100);
			said(m, tx ? "tx_bytes" : "rx_bytes", -1, 100000 - list[i].less);
			same(text("veth, %d bytes less", list[i].less),
			     left(find(m, tx, LEDGER_ALL), "residue_bytes", &(uint64_t){ 0 }),
			     list[i].left);
			done(m);
		}
}

/* Named drops are no discrepancy, more than those are. */
static void named(void)
{
	static const struct { const char *name; uint64_t more, less; } list[] = {
		{ "rx_drops", 0, 20 }, { "xdp_drop", 20, 20 }, { "tx_drops", 0, 20 },
		{ "tx_errors", 0, 20 }, { "tx_xdp", 20, 0 }, {}
	};
	int before = failed;
	uint64_t within;

	for (int i = 0; list[i].name; i++)
		for (int off = -22; off <= 22; off += 2) {
			bool tx = *list[i].name == 't';
			struct made *m = made("virtio_net");
			int want = off > (int)list[i].more ? off - (int)list[i].more :
				   off < -(int)list[i].less ? off + (int)list[i].less : 0;
			int64_t got;

			seen(m, tx ? TX_NIC : RX_NIC, 0, 100, 1);
			said(m, tx ? "tx_packets" : "rx_packets", 0, 100 + off);
			said(m, list[i].name, 0, 20);
			got = left(find(m, tx, 0), "residue", &within);
			must(got == want, text("%s, off by %d", list[i].name, off),
			     text("%" PRId64 ", not %d", got, want));
			done(m);
		}
	check(failed == before, "named losses are not left", "see above");
}

/* Drops by the driver that others have seen are exact: they hide nothing else. */
static void known(void)
{
	for (int off = -2; off <= 2; off++) {
		struct made *m = made("tun");
		const struct ledger *l;
		struct txlat *w;
		uint64_t within;

		table_on(&m->s, METER_txlat);
		w = (void *)m->s.tables[METER_txlat].cells;
		w->came = w->went = 100;
		w->lost[TXLAT_FREED_IN_XMIT] = 20;
		seen(m, TX_NIC, 0, 100, 1);
		said(m, "tx_packets", -1, 80 + off);
		said(m, "tx_bytes", -1, 1000 * (80 + off));
		said(m, "tx_drops", -1, 20);
		l = find(m, true, LEDGER_ALL);
		same(text("drops that txlat knows, off by %d", off), left(l, "residue", &within),
		     off);
		same("drops that txlat knows: exactly", within, 0);
		left(l, "residue_bytes", &within);
		holds(within <= 20 * 1518, "drops that txlat knows: bytes of such packets");
		done(m);
	}
}

/* What txlat knows of drops is exact as long as it has passed no packet by. */
static void thinned(void)
{
	for (unsigned passed = 0; passed < 2; passed++) {
		struct made *m = made("veth");
		struct txlat *w;
		uint64_t within;

		table_on(&m->s, METER_txlat);
		w = (void *)m->s.tables[METER_txlat].cells;
		w->came = w->went = 100 - passed;
		w->lost[TXLAT_FREED_IN_XMIT] = 20 - passed;
		m->s.meta.adapts = true;
		m->s.meta.cpus = 1;
		m->s.thinned = calloc(NR_METERS, sizeof(*m->s.thinned));
		m->s.thinned[METER_txlat] = (struct thinned){ 100 - passed, passed, 0 };
		seen(m, TX_NIC, 0, 100, 1);
		said(m, "tx_packets", -1, 82);
		said(m, "tx_bytes", -1, 82000);
		said(m, "tx_drops", -1, 20);
		same(text("%u passed by: 2 more than we saw leave", passed),
		     left(find(m, true, LEDGER_ALL), "residue", &within), passed ? 0 : 2);
		same(text("%u passed by: give or take", passed), within, passed ? 18 : 0);
		done(m);
	}
}

/* Uncertainties add up over time: a window only has the growth. */
static void windows(void)
{
	const struct ledger *rows[2];
	struct made *m[2];
	struct ledger now;
	uint64_t within;

	for (int i = 0; i < 2; i++) {
		m[i] = made("virtio_net");
		seen(m[i], TX_NIC, 0, 5000 + 100 * i, 1);
		said(m[i], "tx_packets", 0, 4000 + 97 * i);
		said(m[i], "tx_bytes", 0, 1000 * (4000 + 97 * i));
		said(m[i], "tx_drops", -1, 1000 + 2 * i);
		rows[i] = find(m[i], true, 0);
	}
	same("a window: all that was dropped before", left(rows[1], "residue", &within), -1);
	now = *rows[1];
	row_since(&meter_ledger, (uint64_t *)&now, (const uint64_t *)rows[0]);
	same("a window: what is left", left(&now, "residue", &within), -1);
	holds(within <= 2, "a window: within what was dropped in it");
	left(&now, "residue_bytes", &within);
	holds(within <= 2 * 1518, "a window: so are the bytes");
	for (int i = 0; i < 2; i++)
		done(m[i]);
}

/* 100 before the driver was read and 130 after it: a count in between is no discrepancy. */
static void moments(void)
{
	static const int list[][3] = { /* driver's count; discrepancy; uncertainty */
		{ 130, 0, 0 }, { 100, 0, 30 }, { 115, 0, 15 }, { 36, 0, 0 }, { 35, -1, 94 },
		{ 131, 1, 94 },
	};

	for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++) {
		struct made *m = made("tun");
		uint64_t within;

		buffers(&m->s, RX_NIC, 0, 100, 1, 1000, 0);
		buffers(&m->late, RX_NIC, 0, 130, 1, 1000, 0);
		said(m, "rx_packets", -1, list[i][0]);
		same(text("meanwhile: %d", list[i][0]),
		     left(find(m, false, LEDGER_ALL), "residue", &within), list[i][1]);
		check(i == 1 || i == 2 ? within > 0 : within == (uint64_t)list[i][2],
		      text("meanwhile: %d, off by", list[i][0]), text("%" PRIu64, within));
		done(m);
	}
}

/* Given to the driver and not completed: txlat knows how many. */
static void flying(void)
{
	struct made *m = made("virtio_net");
	struct txlat *w;

	table_on(&m->s, METER_txlat);
	w = (void *)(m->s.tables[METER_txlat].cells + 2 * m->s.tables[METER_txlat].words);
	w->came = 50;
	w->went = 43;
	seen(m, TX_NIC, 2, 50, 1);
	said(m, "tx_packets", 2, 43);
	said(m, "tx_bytes", 2, 43000);
	same("in flight", left(find(m, true, 2), "residue", &(uint64_t){ 0 }), 0);
	same("in flight: bytes", left(find(m, true, 2), "residue_bytes", &(uint64_t){ 0 }), 0);
	m->s.tables[METER_hwstat].cells[0] = 42;
	m->out.rows = 0;
	same("lost in flight", left(find(m, true, 2), "residue", &(uint64_t){ 0 }), -1);
	done(m);
}

/* The difference of two inexact values has the uncertainty of both. */
static void intervals(void)
{
	const struct metric *k = metric("residue");
	struct ledger then = { .driver = 10 }, now = { .driver = 110 };
	uint64_t within;

	for (int i = 0; i < LEDGER_WAYS; i++) {
		then.residue[3 * i] = -5, then.residue[3 * i + 1] = 2;
		now.residue[3 * i] = -1, now.residue[3 * i + 1] = 8;
	}
	row_since(&meter_ledger, (uint64_t *)&now, (uint64_t *)&then);
	same("an interval: counters", now.driver, 100);
	same("an interval: the least", now.residue[0], -3);
	same("an interval: the most", now.residue[1], 13);
	same("an interval", residue_of(k, (uint64_t *)&now + k->at, &within), 0);
	now.residue[3] = 4, now.residue[4] = 9;		/* one formula does not fit, another does */
	same("ways", residue_of(k, (uint64_t *)&now + k->at, &within), 0);
	for (int i = 0; i < LEDGER_WAYS; i++)
		now.residue[3 * i] = -9 - i, now.residue[3 * i + 1] = -4 - i;
	same("ways: the least is left", residue_of(k, (uint64_t *)&now + k->at, &within), -4);
	same("ways: off by", within, 5);
}

int main(void)
{
	formulas();
	by_queue();
	later();
	mixed();
	named();
	known();
	thinned();
	windows();
	moments();
	flying();
	intervals();
	return failed > 0;
}
