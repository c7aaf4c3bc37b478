/* SPDX-License-Identifier: GPL-2.0 */
/* The rx-nic hook without XDP: the tracepoints at which a driver delivers a packet. */
#include <string.h>

#include "lib/core/hook.h"

#define HOW	"tp_btf/*_entry"

static const char *avoid(const struct site *site)
{
	return site->driver->no_receive;
}

static const char *blind(const struct site *site, const char *how)
{
	return !strcmp(how, HOW) ? site->driver->no_receive : NULL;
}

const struct hook hook_driver_rx = {
	.name = "driver",
	.help = "five tracepoints at which a driver delivers a packet, before GRO",
	.points = 1 << RX_NIC,
	.how = { [RX_NIC] = HOW },
	.avoid = avoid,
	.blind = blind,
};
