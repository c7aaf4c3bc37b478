/* SPDX-License-Identifier: GPL-2.0 */
/* A made-up ledger, and statistics of a driver. */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <stdio.h>

#include "bpf/hwstat/hwstat.h"
#include "bpf/ledger/ledger.h"
#include "lib/read/snapshot.h"

/* A discrepancy that is the same by every formula. */
static void residue(uint64_t *words, int nr, int64_t least, int64_t most)
{
	for (int i = 0; i < nr; i++) {
		words[RESIDUE_WORDS * i] = least;
		words[RESIDUE_WORDS * i + 1] = most;
	}
}

static struct ledger *ledger(struct snapshot *s, bool tx, unsigned queue, uint64_t driver,
			     uint64_t ours)
{
	struct ledger_key key = { .way = tx, .queue = { queue >> 8, queue } };
	struct ledger *l = (void *)table_add(&s->tables[METER_ledger], &meter_ledger, &key);

	l->driver = driver;
	l->ours = l->stack = ours;
	l->driver_bytes = 1000 * driver;
	l->our_bytes = 1000 * ours;
	residue(l->residue, LEDGER_WAYS, driver - ours, driver - ours);
	residue(l->residue_bytes, LEDGER_WAYS, 1000 * (driver - ours), 1000 * (driver - ours));
	return l;
}

/* NULL: the name is `own`. */
static void hwstat(struct snapshot *s, enum stat_way way, int queue, const char *name,
		   const char *own, uint64_t value)
{
	unsigned q = queue < 0 ? HWSTAT_ALL : queue;
	struct hwstat_key key = {
		.way = way, .queue = { q >> 8, q }, .source = HWSTAT_ETHTOOL,
		.rank = name ? stat_find(name) - stat_names : HWSTAT_OWN,
	};

	snprintf(key.own, sizeof(key.own), "%s", own ?: "");
	*table_add(&s->tables[METER_hwstat], &meter_hwstat, &key) = value;
}

/* Four queues, with everything that a ledger may report. */
static void account_fill(struct snapshot *s)
{
	struct ledger *l;
	char own[32];

	ledger(s, false, 0, 123456, 123456);
	residue(ledger(s, false, 1, 1000, 1000)->residue, LEDGER_WAYS, -3, 12);
	l = ledger(s, false, 2, 1700, 1640);
	l->xdp = 1200;
	residue(l->between, 1, 1200, 1200);
	ledger(s, false, 3, 0, 0);
	l = ledger(s, false, LEDGER_ALL, 126156, 126096);
	l->hardware = 126170;
	l->hardware_bytes = 126170 * 1004ul;
	l->xdp = 1200;
	residue(l->between, 1, 1200, 1200);
	/* Its uncertainty exceeds the packets, and equals the bytes. */
	l = ledger(s, true, 1, 7, 7);
	residue(l->residue, LEDGER_WAYS, -40, 30);
	residue(l->residue_bytes, LEDGER_WAYS, -7000, 100);
	ledger(s, true, 2, 5000, 5020);
	ledger(s, true, LEDGER_ALL, 5000, 5020)->hardware = 5000;
	for (int q = 0; q < 3; q++) {
		hwstat(s, STAT_RX, q, "rx_packets", NULL, 123456 / (q * q * q + 1));
		hwstat(s, STAT_RX, q, "rx_bytes", NULL, 123456789 / (q * q * q + 1));
		hwstat(s, STAT_RX, q, "rx_drops", NULL, q == 2 ? 7 : 0);
	}
	hwstat(s, STAT_RX, -1, "rx_card_packets", NULL, 126170);
	hwstat(s, STAT_RX, -1, "rx_missed", NULL, 14);
	hwstat(s, STAT_TX, 2, "tx_packets", NULL, 5000);
	hwstat(s, STAT_TX, 2, "tx_bytes", NULL, 5000000);
	hwstat(s, STAT_TX, 2, "tx_doorbells", NULL, 4321);
	for (int i = 0; i < 25; i++) {
		snprintf(own, sizeof(own), "os2bmc_%s_by_host_%d", i % 2 ? "tx" : "rx", i);
		hwstat(s, STAT_NEITHER, -1, NULL, own, i * i);
	}
}

#endif
