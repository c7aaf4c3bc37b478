/* SPDX-License-Identifier: GPL-2.0 */
/* Are the driver tables sane: unique, findable, and their sentences such that they can be shown? */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../lib/driver.h"

static int failed;

static void check(bool good, const char *name, const char *of, const char *why)
{
	if (good)
		printf("ok %s %s\n", name, of);
	else
		printf("not ok %s %s: %s\n", name, of, why);
	failed |= !good;
}

/* A fragment goes into a longer sentence: no full stop, no line of its own, not too long. */
static bool is_fragment(const char *s)
{
	size_t len = s ? strlen(s) : 0;

	if (!s)
		return true;
	return len > 3 && len < 110 && s[len - 1] != '.' && s[len - 1] != ' ' && !strchr(s, '\n');
}

static unsigned named(const char *name)
{
	unsigned n = 0;

	for (const struct driver *const *d = drivers; *d; d++)
		n += !strcmp((*d)->name, name);
	return n;
}

static void check_table(const struct driver *d)
{
	check(is_fragment(d->help) && d->help, "help", d->name, "no fragment of a sentence");
	check(is_fragment(d->xdp), "xdp", d->name, "no fragment of a sentence");
	check(is_fragment(d->no_completion), "no_completion", d->name, "no fragment of a sentence");
	check(!(d->xdp && d->no_xdp), "xdp-or-not", d->name, "disturbs by what it does not have");
	check(d->rx_queue <= RX_QUEUE_RAW, "rx_queue", d->name, "no such value");
}

static void check_name(const struct driver *d)
{
	/* meta.driver and iface.driver have room for 31 letters. */
	check(d->name && d->name[0] && strlen(d->name) < 32, "name", d->name, "empty or too long");
	check(named(d->name) == 1, "unique", d->name, "named twice");
	check(driver_find(d->name) == d, "findable", d->name, "driver_find() gives another");
}

static void check_facts(void)
{
	check(driver_find("nonesuch") == &driver_generic, "unknown", "nonesuch", "not generic");
	check(driver_find("") == &driver_generic, "unknown", "empty", "not generic");
	check(driver_find("ixg") == &driver_generic, "prefix", "ixg", "took ixgbe for it");
	check(driver_find("ena")->xdp, "disturbs", "ena", "attaching XDP resets its queues");
	check(!driver_find("tun")->xdp && !driver_find("tun")->no_xdp, "undisturbed", "tun",
	      "attaching XDP swaps a pointer");
	check(driver_find("e1000e")->no_xdp, "no_xdp", "e1000e", "it has no ndo_bpf");
	check(driver_find("veth")->rx_queue == RX_QUEUE_RAW, "queue", "veth", "must be raw");
	check(driver_find("ixgbevf")->rx_queue == RX_QUEUE_BY_NAPI, "queue", "ixgbevf",
	      "it is never recorded");
	check(driver_find("veth")->no_completion, "no_completion", "veth", "it never completes");
	check(!driver_find("virtio_net")->no_completion, "completes", "virtio_net", "it does");
}

int main(void)
{
	for (const struct driver *const *d = drivers; *d; d++) {
		check_name(*d);
		check_table(*d);
	}
	check_table(&driver_generic);
	check(driver_generic.xdp, "disturbs", "generic", "unknown is not harmless");
	check_facts();
	return failed;
}
