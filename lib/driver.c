/* SPDX-License-Identifier: GPL-2.0 */
/* Finds what we know of a driver. */
#include <stddef.h>
#include <string.h>

#include "driver.h"

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
	.irqs = { "*-TxRx-%q", "%i-rx-%r", "%i-tx-%t", "mlx5_comp%q@*" },
};

const struct driver *driver_find(const char *name)
{
	for (const struct driver *const *d = drivers; *d; d++)
		if (!strcmp((*d)->name, name))
			return *d;
	return &driver_generic;
}
