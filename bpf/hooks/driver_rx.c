/* SPDX-License-Identifier: GPL-2.0 */
/* The rx-nic hook without XDP: the tracepoints at which a driver delivers a packet. */
#include <stdio.h>
#include <string.h>

#include "lib/core/hook.h"
#include "lib/kernel/choose.h"
#include "driver_rx.skel.h"

static int attach(const struct site *site, struct bpf_object *obj, char *how, size_t size)
{
	const char *section = kernel_chosen(obj, "rx_gro");

	snprintf(how, size, "%.*s/*_entry", (int)strcspn(section, "/"), section);
	return attach_links(site, obj);
}

static const char *avoid(const struct site *site)
{
	return site->driver->no_receive;
}

static const char *blind(const struct site *site, const char *how)
{
	return strstr(how, "/*_entry") ? site->driver->no_receive : NULL;
}

const struct hook hook_driver_rx = {
	.name = "driver",
	.help = "five tracepoints at which a driver delivers a packet, before GRO",
	.points = 1 << RX_NIC,
	.prefix = { [RX_NIC] = "rx" },
	.avoid = avoid,
	.elf = driver_rx_bpf__elf_bytes,
	.attach = attach,
	.blind = blind,
};
