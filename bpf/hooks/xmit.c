/* SPDX-License-Identifier: GPL-2.0 */
/* The tx-stack and tx-nic hooks: plain links. */
#include <string.h>

#include "lib/core/hook.h"
#include "lib/kernel/release.h"

#define AT_XMIT	"tp_btf/net_dev_start_xmit"

/* Without a qdisc nothing need be seen when the driver's xmit returns: config_sends(). */
static const char *blind(const struct site *site, const char *how)
{
	const char *qdisc = site->iface.qdisc;
	unsigned since = site->driver->gives_back_since;

	if (strcmp(how, AT_XMIT) || !site->config.takes_all || !since || release_before(since))
		return NULL;
	if (!*qdisc || !strcmp(qdisc, "noqueue") || !strcmp(qdisc, "noop"))
		return NULL;
	return "it has a queueing discipline now, and had none: a packet that the driver gives "
	       "back counts again when it is sent again, and no stop of its queue is seen";
}

const struct hook hook_xmit = {
	.name = "xmit",
	.help = "the tracepoints before the qdisc and at the driver's xmit",
	.points = 1 << TX_STACK | 1 << TX_NIC,
	.how = { [TX_STACK] = "tp_btf/net_dev_queue", [TX_NIC] = AT_XMIT },
	.blind = blind,
};
