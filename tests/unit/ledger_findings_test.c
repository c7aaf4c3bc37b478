/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about discrepancies in the ledger, of made-up snapshots. */
#include <stdlib.h>
#include <string.h>

#include "bpf/hwstat/hwstat.h"
#include "bpf/ledger/ledger.h"
#include "made.h"

#define SUBJECT "ledger "
#include "judge.h"

/* Likely causes are reported for the queues they affect, and for 0 nothing. */
static void findings(void)
{
	static const struct {
		const char *driver;
		bool tx;
		int off;
		const char *id, *says;
	} list[] = {
		{ "virtio_net", false, 0, NULL, NULL },
		{ "virtio_net", false, 700, "unseen-received", "AF_XDP" },
		{ "virtio_net", false, 99, NULL, NULL },	/* below the threshold */
		{ "virtio_net", false, -700, "uncounted-received", "lag" },
		{ "igb", true, 700, "unseen-sent", "PACKET_QDISC_BYPASS" },
		{ "ena", true, -700, "uncounted-sent", "lost in the driver" },
		{ "igb", true, -700, NULL, NULL },	/* not completed, and txlat is off */
		{ "igb", true, -5000, "uncounted-sent", "lost in the driver" }, {}
	};

	for (int i = 0; list[i].driver; i++) {
		struct made *m = made(list[i].driver);

		seen(m, list[i].tx ? TX_NIC : RX_NIC, 1, 9000, 1);
		said(m, list[i].tx ? "tx_packets" : "rx_packets", 1, 9000 + list[i].off);
		said(m, list[i].tx ? "tx_bytes" : "rx_bytes", 1, 1000 * (9000 + list[i].off) -
		     (!strcmp(list[i].driver, "ena") && !list[i].tx ? 9000 * 14 : 0));
		find(m, list[i].tx, 1);
		m->s.tables[METER_ledger] = m->out;
		m->out = (struct table){};
		finds(&m->s, setup_unknown(), text("%s, off by %d: finding", list[i].driver,
						   list[i].off), list[i].id,
		      "queue 1 of eth0", list[i].says);
		done(m);
	}
}

/*
 * The stack saw packets that the driver counted and we did not: the kernel skipped our programs.
 * Packets that the stack missed, too, bypassed it.
 */
static void missed(void)
{
	static const struct { const char *name; unsigned stack; bool tx; const char *id, *says; }
	list[] = {
		{ "the stack saw all", 9000, false, "missed-received", "700 packets (7.78%)" },
		{ "the stack saw as few", 8300, false, "unseen-received", "700 packets (7.78%)" },
		{ "the stack sent all", 9000, true, "missed-sent", "tx-stack are complete" },
		{ "the stack sent as few", 8300, true, "unseen-sent", "700 packets" },
		{ "the stack saw some", 8320, false, "unseen-received", "680 packets" },
	};

	for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++) {
		struct made *m = made("virtio_net");
		bool tx = list[i].tx;

		table_on(&m->s, METER_drop);
		m->s.tables[METER_drop].cells = calloc(1, meter_drop.row_size);
		m->s.tables[METER_drop].keys = calloc(1, meter_drop.key.size);
		seen(m, tx ? TX_NIC : RX_NIC, 1, 8300, 1);
		seen(m, tx ? TX_STACK : RX_STACK, 1, list[i].stack, 1);
		said(m, tx ? "tx_packets" : "rx_packets", 1, 9000);
		said(m, tx ? "tx_bytes" : "rx_bytes", 1, 9000000);
		find(m, tx, 1);
		m->s.tables[METER_ledger] = m->out;
		m->out = (struct table){};
		finds(&m->s, setup_unknown(), list[i].name, list[i].id, list[i].says, NULL);
		done(m);
	}
}

/*
 * As many packets, other bytes: a driver that counts 14 more of each is another version; one that
 * has one buffer more has counted its bytes, and is about to count it.
 */
static void half_counted(void)
{
	static const struct { const char *name; int more; const char *id, *says; } list[] = {
		{ "14 bytes more of each packet", 9000 * 14, "bytes-differ", "14 per packet" },
		{ "4 bytes fewer of each packet, of many", -70000, "bytes-differ", "fewer" },
		{ "a buffer of 45 segments more", 65160, NULL, NULL },
		{ "a buffer of 45 segments fewer", -65160, NULL, NULL },
	};

	for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++) {
		struct made *m = made("virtio_net");

		seen(m, TX_NIC, 1, 9000, 1);
		said(m, "tx_packets", 1, 9000);
		said(m, "tx_bytes", 1, 9000000 + list[i].more);
		find(m, true, 1);
		m->s.tables[METER_ledger] = m->out;
		m->out = (struct table){};
		finds(&m->s, setup_unknown(), list[i].name, list[i].id, list[i].says, NULL);
		done(m);
	}
}

/* A driver whose counters restarted has lost nothing: only the restart is reported. */
static void restarted(void)
{
	struct made *m = made("ena");

	seen(m, TX_NIC, 1, 9000, 1);
	said(m, "tx_packets", 1, 200);
	said(m, "tx_bytes", 1, 200000);
	said(m, "restarts", HWSTAT_ALL, 1);
	same("began anew: a residue", left(find(m, true, 1), "residue", &(uint64_t){ 0 }), -8800);
	m->s.tables[METER_ledger] = m->out;
	m->out = (struct table){};
	finds(&m->s, setup_unknown(), "began anew: the only finding", "counters-restarted",
	      "restarted its counters from 0", "nicprobe attach eth0");
	done(m);
}

int main(void)
{
	findings();
	missed();
	half_counted();
	restarted();
	return failed > 0;
}
