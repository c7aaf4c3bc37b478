/* SPDX-License-Identifier: GPL-2.0 */
/* The device behind an interface, from sysfs: PCI, NUMA node, SR-IOV. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/hw/hw.h"
#include "lib/net/sysfs.h"
#include "lib/util/log.h"

/* For virtio, the PCI function is one level further up. */
static const char *device_of(int sys, struct hw_card *c)
{
	char above[16];

	if (!sysfs_link(sys, "device/subsystem", c->subsystem, sizeof(c->subsystem)))
		return NULL;
	sysfs_link(sys, "device", c->name, sizeof(c->name));
	if (strcmp(c->subsystem, "virtio") ||
	    !sysfs_link(sys, "device/../subsystem", above, sizeof(above)))
		return "device";
	return strcmp(above, "pci") ? "device" : "device/..";
}

static void ids_read(int sys, const char *device, struct hw_card *c)
{
	unsigned long vendor = sysfs_number(sys, text("%s/vendor", device));
	unsigned long id = sysfs_number(sys, text("%s/device", device));

	if (vendor)
		snprintf(c->ids, sizeof(c->ids), "%04lx:%04lx", vendor, id);
}

/* A bridge of the chipset, or an emulated card, reports 0 or 255 lanes. */
static unsigned lanes(int sys, const char *file)
{
	unsigned long nr = sysfs_number(sys, file);

	return nr <= 32 ? nr : 0;
}

static void link_read(int sys, const char *device, struct hw_card *c)
{
	sysfs_line(sys, text("%s/current_link_speed", device), c->speed, sizeof(c->speed));
	sysfs_line(sys, text("%s/max_link_speed", device), c->max_speed, sizeof(c->max_speed));
	c->width = lanes(sys, text("%s/current_link_width", device));
	c->max_width = lanes(sys, text("%s/max_link_width", device));
	if (!strncmp(c->speed, "Unknown", 7) || !c->width)
		c->speed[0] = c->max_speed[0] = '\0';
}

static void node_read(int sys, const char *device, struct hw_card *c)
{
	char line[1024];

	if (sysfs_line(sys, text("%s/numa_node", device), line, sizeof(line)) && *line)
		c->node = atoi(line);
	if (sysfs_line(sys, text("%s/local_cpulist", device), line, sizeof(line)))
		cpus_from_list(&c->local, line);
}

/* The first interface of the physical function, if it is in this namespace. */
static void pf_iface_read(int sys, const char *device, struct hw_card *c)
{
	DIR *dir = sysfs_dir(sys, text("%s/physfn/net", device));
	const struct dirent *e;

	while (dir && !*c->pf_iface && (e = readdir(dir)))
		if (*e->d_name != '.')
			snprintf(c->pf_iface, sizeof(c->pf_iface), "%.60s", e->d_name);
	if (dir)
		closedir(dir);
}

void hw_card_read(struct hw *h, int sys)
{
	struct hw_card *c = &h->card;
	const char *device = device_of(sys, c);

	if (!device)
		return;
	ids_read(sys, device, c);
	link_read(sys, device, c);
	node_read(sys, device, c);
	if (sysfs_link(sys, text("%s/physfn", device), c->pf, sizeof(c->pf)))
		pf_iface_read(sys, device, c);
	c->vfs = sysfs_number(sys, text("%s/sriov_numvfs", device));
	c->max_vfs = sysfs_number(sys, text("%s/sriov_totalvfs", device));
}
