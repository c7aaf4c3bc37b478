/* SPDX-License-Identifier: GPL-2.0 */
/* Finds what we know of a driver. */
#include <glob.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/core/nic_driver.h"
#include "lib/util/list.h"

const struct driver *const drivers[] = {
#define D(name) &driver_##name,
	DRIVERS(D)
#undef D
	NULL
};

const struct driver driver_generic = {
	.name = "generic",
	.help = "any other driver",
	.rx_queue = RX_QUEUE_RECORDED,
	.xdp = "may reset the link: nothing is known of this driver",
	.irqs = { "*-TxRx-%q", "%i-rx-%r", "%i-tx-%t", "mlx5_comp%q@pci:*" },
};

const struct driver *driver_find(const char *name)
{
	for (const struct driver *const *d = drivers; *d; d++)
		if (!strcmp((*d)->name, name))
			return *d;
	return &driver_generic;
}

const char *const does_text[] = {
	[DOES_INTERRUPT] = "interrupt",
	[DOES_POLL] = "poll",
	[DOES_TRANSMIT] = "transmit",
	[DOES_COMPLETE] = "complete",
	[DOES_RECEIVE] = "receive",
	[DOES_REFILL] = "refill",
	[DOES_XDP] = "xdp",
	[DOES_TIMEOUT] = "timeout",
	[DOES_SCAN] = "scan",
	[DOES_OTHER] = "other",
};
ONE_EACH(does_text, NR_DOES);

const struct stat_name stat_names[] = {
	{ "rx_packets", "packets received" },
	{ "rx_bytes", "bytes received" },
	{ "rx_card_packets", "packets received, as the card counts them" },
	{ "rx_card_bytes", "bytes received, as the card counts them: with FCS" },
	{ "rx_drops", "packets that the driver threw away" },
	{ "rx_missed", "packets that the card threw away: it had no room for them" },
	{ "rx_no_buffer", "packets for which the driver had given the card no buffer" },
	{ "rx_errors", "packets that arrived damaged" },
	{ "rx_csum_errors", "packets with a wrong checksum" },
	{ "rx_alloc_fail", "buffers for which there was no memory: the ring runs dry" },
	{ "rx_ring_empty", "times the ring was empty: nothing could be received" },
	{ "rx_doorbells", "times the card was told of new buffers" },
	{ "rx_merged", "packets that the card merged (LRO)" },
	{ "rx_ce_marks", "packets that the driver itself marked CE" },
	{ "xdp_packets", "packets that an XDP program saw" },
	{ "xdp_pass", "packets that XDP let pass" },
	{ "xdp_drop", "packets that XDP dropped" },
	{ "xdp_tx", "packets that XDP sent back" },
	{ "xdp_redirect", "packets that XDP redirected" },
	{ "xdp_aborted", "packets that an XDP program failed on" },
	{ "tx_packets", "packets sent" },
	{ "tx_bytes", "bytes sent" },
	{ "tx_card_packets", "packets sent, as the card counts them" },
	{ "tx_card_bytes", "bytes sent, as the card counts them: with FCS" },
	{ "tx_drops", "packets that the driver threw away" },
	{ "tx_errors", "packets that could not be sent" },
	{ "tx_busy", "packets handed back to the qdisc: the ring was full" },
	{ "tx_stop", "times the queue was stopped: its ring was full" },
	{ "tx_wake", "times a stopped queue was started again" },
	{ "tx_doorbells", "times the card was told of new packets" },
	{ "tx_timeouts", "times that nothing completed for seconds: the queue is reset" },
	{ "tx_missed", "times that a packet was found not completed in time" },
	{ "tx_dma_fail", "packets that could not be mapped for the card" },
	{ "tx_linearized", "packets copied, because they were in too many pieces" },
	{ "tx_xdp", "packets that XDP programs sent from this queue" },
	{ "tx_merged", "packets that the card segmented (TSO)" },
	{ "polls", "NAPI polls" },
	{ "interrupts", "interrupts, or events that stand for them" },
	{ "restarts", "times the driver began to count its packets from 0 again" },
	{ "over_bw_in", "packets delayed or dropped: more bytes than the instance may receive" },
	{ "over_bw_out", "packets delayed or dropped: more bytes than the instance may send" },
	{ "over_pps", "packets delayed or dropped: more packets than the instance may have" },
	{ "over_conntrack", "packets dropped: more connections than the instance may have" },
	{ "over_linklocal", "packets dropped: too many to the provider's DNS, clock or metadata" },
	{ "conntrack_left", "connections that the instance may still have: a level, no count" },
	{}
};
_Static_assert(NR_OF(stat_names) < 255, "a key has a byte for a rank: struct hwstat_key");

const struct stat_name *stat_find(const char *name)
{
	for (const struct stat_name *s = stat_names; s->name; s++)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}

unsigned driver_devices(const char *name)
{
	glob_t found = {};
	unsigned nr = 0;
	char path[128];

	/* links to the devices, and one to its module */
	snprintf(path, sizeof(path), "/sys/bus/*/drivers/%s/*", name);
	if (!glob(path, GLOB_NOSORT, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++) {
			struct stat st;

			nr += !lstat(found.gl_pathv[i], &st) && S_ISLNK(st.st_mode) &&
			      strcmp(strrchr(found.gl_pathv[i], '/'), "/module");
		}
	globfree(&found);
	return nr;
}

unsigned release_version(const char *release)
{
	unsigned major, minor;

	return sscanf(release, "%3u.%3u", &major, &minor) == 2 ? KERNEL(major, minor) : 0;
}

bool version_has(unsigned version, unsigned since, unsigned until)
{
	if (!version)
		return !since && !until;
	return version >= since && (!until || version <= until);
}
