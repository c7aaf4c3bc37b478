/* SPDX-License-Identifier: GPL-2.0 */
/* Reads a card from a made-up sysfs tree. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/hw/hw.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "render/hw/hw.h"

#define SUBJECT "hw "
#include "check.h"

static struct error e;

static char tree[] = "/tmp/nicprobe-hw-XXXXXX";

/* A file of the tree, with its parent directories. */
static void put(const char *file, const char *line)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", tree, file);
	for (char *at = path + strlen(tree) + 1; (at = strchr(at, '/')); *at++ = '/') {
		*at = '\0';
		mkdir(path, 0700);
	}
	f = fopen(path, "w");
	if (f) {
		fprintf(f, "%s\n", line);
		fclose(f);
	}
}

static void lead(const char *link, const char *to)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", tree, link);
	check(!symlink(to, path), text("a tree for %s", link), "it cannot be made");
}

/* A virtual function; its physical one; and a channel of the VMBus. */
static void check_cards(void)
{
	struct hw vf = { .card.node = -1 }, pf = vf;
	int sys = -1;

	check(mkdtemp(tree) && (sys = open(tree, O_PATH | O_DIRECTORY)) >= 0, "a tree", tree);
	put("bus/pci/x", "");
	put("dev/0000:03:00.0/vendor", "0x8086");
	put("dev/0000:03:00.0/sriov_numvfs", "2");
	put("dev/0000:03:00.0/sriov_totalvfs", "63");
	put("dev/0000:03:00.0/numa_node", "1");
	put("dev/0000:03:00.0/local_cpulist", "8-15");
	put("dev/0000:03:00.0/current_link_speed", "Unknown");
	put("dev/0000:03:00.0/net/ens1/x", "");
	put("dev/0000:03:10.0/vendor", "0x8086");
	put("dev/0000:03:10.0/device", "0x10ed");
	put("dev/0000:03:10.0/current_link_speed", "5.0 GT/s PCIe");
	put("dev/0000:03:10.0/max_link_speed", "5.0 GT/s PCIe");
	put("dev/0000:03:10.0/current_link_width", "4");
	put("dev/0000:03:10.0/max_link_width", "255");
	lead("dev/0000:03:00.0/subsystem", "../../bus/pci");
	lead("dev/0000:03:10.0/subsystem", "../../bus/pci");
	lead("dev/0000:03:10.0/physfn", "../0000:03:00.0");
	lead("device", "dev/0000:03:10.0");
	hw_card_read(&vf, sys);
	check(!strcmp(vf.card.pf, "0000:03:00.0") && !strcmp(vf.card.pf_iface, "ens1") &&
	      !strcmp(vf.card.ids, "8086:10ed") && vf.card.width == 4 && !vf.card.max_width &&
	      vf.card.node == -1 && !strcmp(vf.card.subsystem, "pci"), "a virtual function",
	      text("%s %s %s", vf.card.pf, vf.card.pf_iface, vf.card.ids));
	unlink(text("%s/device", tree));
	lead("device", "dev/0000:03:00.0");
	hw_card_read(&pf, sys);
	check(pf.card.vfs == 2 && pf.card.max_vfs == 63 && !*pf.card.pf && pf.card.node == 1 &&
	      cpus_count(&pf.card.local) == 8 && !*pf.card.speed, "a physical function",
	      text("%u of %u", pf.card.vfs, pf.card.max_vfs));
	close(sys);
}

/* The interface that every machine has. */
static void check_loopback(void)
{
	struct hw h;
	int err = hw_read("lo", &h, &e);

	check(!err && !*h.card.subsystem && h.iface.loopback && h.features.nr > 10 && h.nr_notes &&
	      cpus_count(&h.online), "lo", text("%d, %u features", err, h.features.nr));
	hw_free(&h);
	check(hw_read("no-such", &h, &e) == -ENODEV && strstr(e.what, "no interface"),
	      "no interface", e.what);
	hw_free(&h);
}

int main(void)
{
	check_cards();
	check_loopback();
	return system(text("rm -r %s", tree)) || failed > 0;
}
