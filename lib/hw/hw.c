/* SPDX-License-Identifier: GPL-2.0 */
/* Collects the setup of an interface, and the reasons for what is missing. */
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/hw/hw.h"
#include "lib/net/netlink.h"
#include "lib/net/sysfs.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

void hw_note(struct hw *h, const char *of, const char *why, ...)
{
	struct hw_note *n = &h->notes[h->nr_notes];
	va_list args;

	if (h->nr_notes == MAX_HW_NOTES)
		return;
	h->nr_notes++;
	snprintf(n->of, sizeof(n->of), "%s", of);
	va_start(args, why);
	vsnprintf(n->why, sizeof(n->why), why, args);
	va_end(args);
}

static const char *reason(int err)
{
	switch (err) {
	case -EOPNOTSUPP:
		return "not reported by its driver";
	case -EPERM:
	case -EACCES:
		return "root only";
	case -ENODEV:
		return "the interface or its hardware has gone";
	}
	return strerror(-err);
}

static void driver_read(struct hw *h, int sys)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };

	h->driver = driver_find(h->iface.driver);
	if (sys >= 0)
		sysfs_link(sys, "device/driver/module", h->module, sizeof(h->module));
	if (ethtool_ask(h->iface.name, &info))
		return;
	snprintf(h->version, sizeof(h->version), "%.31s", info.version);
	snprintf(h->firmware, sizeof(h->firmware), "%.31s", info.fw_version);
	snprintf(h->bus, sizeof(h->bus), "%.31s", info.bus_info);
}

/* A number in a file; -1: missing, or not readable. */
static long long number(int dir, const char *file)
{
	char line[32], *end;
	long long value;

	if (!sysfs_line(dir, file, line, sizeof(line)))
		return -1;
	value = strtoll(line, &end, 0);
	return end == line ? -1 : value;
}

/* Drivers count the same packet in one or two of these files: use the largest. */
static unsigned long missed_read(int sys)
{
	static const char *const files[] = {
		"rx_missed_errors", "rx_fifo_errors", "rx_over_errors"
	};
	unsigned long most = 0;

	for (unsigned i = 0; i < sizeof(files) / sizeof(*files); i++) {
		unsigned long n = sysfs_number(sys, text("statistics/%s", files[i]));

		most = n > most ? n : most;
	}
	return most;
}

static void sysfs_read(struct hw *h, int sys)
{
	h->carrier = number(sys, "carrier") == 1;
	h->threaded = number(sys, "threaded") > 0;
	h->defer_hard_irqs = number(sys, "napi_defer_hard_irqs");
	h->gro_flush_ns = number(sys, "gro_flush_timeout");
	h->rx_missed = missed_read(sys);
}

/* Some of these exist in the first network namespace only, and are unknown elsewhere. */
static void sysctls_read(struct hw *h)
{
	h->busy_poll_us = number(AT_FDCWD, "/proc/sys/net/core/busy_poll");
	h->busy_read_us = number(AT_FDCWD, "/proc/sys/net/core/busy_read");
	h->rfs_entries = number(AT_FDCWD, "/proc/sys/net/core/rps_sock_flow_entries");
}

/*
 * Known drivers have steering rules only with this feature. Others are not asked for rules, as ena
 * logs an error each time (6.1, 6.12).
 */
static bool rules_possible(const struct hw *h)
{
	if (h->features.err || h->driver == &driver_generic)
		return true;
	for (unsigned i = 0; i < h->features.nr; i++)
		if (!strcmp(h->features.list[i].name, "rx-ntuple-filter"))
			return h->features.list[i].is & (FEATURE_CAN | FEATURE_ON);
	return false;
}

static void settings_all(struct hw *h)
{
	const struct {
		const struct setting_group *group;
		struct settings *to;
	} all[] = {
		{ &group_link, &h->link }, { &group_port, &h->port }, { &group_fec, &h->fec },
		{ &group_pause, &h->pause }, { &group_rings, &h->rings },
		{ &group_channels, &h->channels }, { &group_coalesce, &h->coalesce },
	};

	if (netlink_family("ethtool") < 0)
		hw_note(h, "ethtool netlink", "missing in this kernel; only what the ioctl reports "
			"is known");
	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
		settings_read(&h->iface, all[i].group, all[i].to);
		/* the port comes with the link */
		if (all[i].to->err && all[i].group != &group_port)
			hw_note(h, all[i].group->name, "%s", reason(all[i].to->err));
	}
	rss_read(&h->iface, &h->rss);
	if (h->rss.err)
		hw_note(h, "RSS", "%s", reason(h->rss.err));
	features_read(&h->iface, &h->features);
	if (h->features.err)
		hw_note(h, "offloads", "%s", reason(h->features.err));
	h->rss.rules = rules_possible(h) ? rss_rules(&h->iface) : 0;
}

static void napis_note(struct hw *h)
{
	bool linked = false;

	for (unsigned i = 0; i < h->nr; i++)
		linked |= h->lines[i].napi;
	if (h->driver->no_napi)
		hw_note(h, "NAPI", "%s", h->driver->no_napi);
	else if (h->napis.named)
		hw_note(h, "NAPI", "%s; known only by their threads: pgrep -a napi/%s-",
			h->napis.err ? "not reported by this kernel (netdev-genl, Linux 6.8)" :
				       "the driver's instances have no IDs", h->iface.name);
	else if (h->napis.err == -ENOENT || h->napis.err == -EOPNOTSUPP)
		hw_note(h, "NAPI", "not reported by this kernel (netdev-genl, Linux 6.8)%s",
			h->threaded ? "; its threads: pgrep -a napi/" : "");
	else if (h->napis.err)
		hw_note(h, "NAPI", "%s", reason(h->napis.err));
	else if (!h->napis.nr && !h->iface.up)
		hw_note(h, "NAPI", "the interface is down: it has instances only while it is up");
	else if (!h->napis.nr)
		hw_note(h, "NAPI", "it has no instances now");
	else if (!linked)
		hw_note(h, "queues of NAPI", "its driver does not report which instance serves "
			"which queue, and the numbers differ");
}

static void xsks_note(struct hw *h)
{
	xsks_read(h->iface.ifindex, &h->xsks);
	if (h->xsks.err == -ENOENT)
		hw_note(h, "AF_XDP", "this namespace has AF_XDP sockets, but this kernel does not "
			"report their queues (CONFIG_XDP_SOCKETS_DIAG)");
	else if (h->xsks.err)
		hw_note(h, "AF_XDP", "%s", reason(h->xsks.err));
}

/* The online CPUs, and the CPUs of each node. */
static int machine_read(struct hw *h)
{
	char line[4096];
	struct cpus nodes;

	if (sysfs_line(AT_FDCWD, "/sys/devices/system/cpu/online", line, sizeof(line)))
		cpus_from_list(&h->online, line);
	if (!sysfs_line(AT_FDCWD, "/sys/devices/system/node/has_cpu", line, sizeof(line)) ||
	    !cpus_from_list(&nodes, line))
		return 0;
	for (int node = -1; (node = cpus_next(&nodes, node)) >= 0;)
		h->nodes = node + 1;
	h->node_cpus = calloc(h->nodes + 1, sizeof(*h->node_cpus));
	if (!h->node_cpus)
		return -ENOMEM;
	for (unsigned i = 0; i < h->nodes; i++)
		if (sysfs_line(AT_FDCWD, text("/sys/devices/system/node/node%u/cpulist", i), line,
			       sizeof(line)))
			cpus_from_list(&h->node_cpus[i], line);
	return 0;
}

static int read_all(struct hw *h, int sys)
{
	int err = machine_read(h);

	driver_read(h, sys);
	sysctls_read(h);
	h->card.node = h->defer_hard_irqs = h->gro_flush_ns = -1;
	if (sys >= 0) {
		sysfs_read(h, sys);
		hw_card_read(h, sys);
	} else {
		hw_note(h, "sysfs", "not mounted, or that of another network namespace: device, "
			"RPS and XPS are unknown");
	}
	if (*h->card.subsystem && h->driver == &driver_generic)
		hw_note(h, "driver table", "nicprobe has no table for %s: its interrupts are "
			"matched by common naming patterns",
			h->iface.driver);
	settings_all(h);
	hw_above_read(h, sys);
	xsks_note(h);
	err = err ?: hw_lines_read(h, sys);
	napis_note(h);
	return err;
}

int hw_read(const char *iface, struct hw *h, struct error *e)
{
	int err, sys;

	*h = (struct hw){ .driver = &driver_generic };
	err = iface_read(iface, &h->iface, e);
	if (err)
		return err;
	sys = sysfs_open(h->iface.name, h->iface.ifindex);
	err = read_all(h, sys);
	if (sys >= 0)
		close(sys);
	if (err)
		return error_set(e, err, "", "cannot describe %s: %s", iface, strerror(-err));
	return 0;
}

void hw_free(struct hw *h)
{
	rss_free(&h->rss);
	features_free(&h->features);
	napis_free(&h->napis);
	xsks_free(&h->xsks);
	free(h->lines);
	free(h->node_cpus);
	h->lines = NULL;
	h->node_cpus = NULL;
}
