/* SPDX-License-Identifier: GPL-2.0 */
/* How the time in the qdisc is shown, and when packets wait there too long or are lost there. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../lib/log.h"
#include "../lib/snapshot.h"
#include "qdisc.h"
#include "qdisc.skel.h"

static const char *const dropped[NR_QDISC_DROPPED] = {
	[QDISC_DROPPED] = "by-qdisc",
	[QDISC_DROPPED_OTHER] = "otherwise",
};

static const char *const lost[NR_QDISC_LOST] = {
	[QDISC_FULL] = "table-full",
	[QDISC_SEGMENTED] = "split-by-qdisc",
	[QDISC_VANISHED] = "vanished",
};

static const struct metric metrics[] = {
	HISTOGRAM(struct qdisc, wait, .name = "wait", .unit = "seconds", .scale = 1e-9,
		.help = "Time from the qdisc's door until the driver was handed the packet."),
	LEVEL(struct qdisc, came, .name = "waiting", .unit = "packets",
		.help = "Packets that are in the qdisc now."),
	COUNTER(struct qdisc, dropped, .name = "dropped", .unit = "packets",
		.label = "by", .labels = dropped,
		.help = "Packets dropped by the qdisc, or otherwise before the driver had them."),
	COUNTER(struct qdisc, segmented, .name = "segmented", .unit = "packets",
		.help = "Buffers that were split in software (GSO) on their way to the driver."),
	COUNTER(struct qdisc, refused, .name = "refused", .unit = "packets",
		.help = "Hand-overs that the driver refused: the packet went back to the qdisc."),
	COUNTER(struct qdisc, lost, .name = "lost", .unit = "packets",
		.label = "cause", .labels = lost,
		.help = "Packets whose time could not be measured, by cause."),
	{}
};

static void key_text(const void *key, unsigned nr, char *text, size_t size)
{
	const struct qdisc_key *at = key;

	if (nr)
		snprintf(text, size, "%.16s", at->kind[0] ? at->kind : "unknown");
	else
		snprintf(text, size, "%u", at->queue);
}

const struct meter meter_qdisc = {
	.name = "qdisc",
	.help = "how long packets wait in the qdisc, by TX queue and kind of qdisc",
	.by = BY_KEY,
	.point = TX_STACK,
	.row_size = sizeof(struct qdisc),
	.metrics = metrics,
	.key_size = sizeof(struct qdisc_key),
	.keys_per_queue = QDISC_KINDS,
	.key_labels = (const char *const []){ "queue", "qdisc", NULL },
	.key_text = key_text,
	.elf = qdisc_bpf__elf_bytes,
	.on_request = "a clock read and a table cost each packet that is sent about 0.25 us",
};
