/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe driver: count calls of a driver's functions while a command runs. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "cmd/cmd.h"
#include "cmd/words.h"
#include "lib/attach/object.h"
#include "lib/attach/pins.h"
#include "lib/core/hook.h"
#include "lib/kernel/permits.h"
#include "lib/net/iface.h"
#include "lib/net/sysfs.h"
#include "lib/util/clock.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

static const char *driver;	/* of the interfaces whose packets are counted */

/* From sysfs statistics of all its interfaces in this namespace. */
static uint64_t packets(void)
{
	struct if_nameindex *list = if_nameindex();
	uint64_t n = 0;

	for (struct if_nameindex *i = list; i && i->if_index; i++) {
		struct iface now;
		int dir = -1;

		if (!iface_read(i->if_name, &now, NULL) && !strcmp(now.driver, driver))
			dir = sysfs_open(i->if_name, i->if_index);
		if (dir < 0)
			continue;
		n += sysfs_number(dir, "statistics/rx_packets") +
		     sysfs_number(dir, "statistics/tx_packets");
		close(dir);
	}
	if (list)
		if_freenameindex(list);
	return n;
}

/* `name` is a known driver, an unknown module, or an interface, in this order. */
static int driver_choose(const char *name, struct site *site)
{
	struct iface *i = &site->iface;
	const char *iface;

	site->driver = driver_find(name);
	if (site->driver == &driver_generic && !strchr(name, '/') &&
	    !access(text("/sys/module/%s", name), F_OK))
		snprintf(i->driver, sizeof(i->driver), "%s", name);
	else if (site->driver != &driver_generic)
		snprintf(i->driver, sizeof(i->driver), "%s", site->driver->name);
	if (*i->driver)
		return 0;
	iface = iface_enter(name, NULL, NULL);
	if (!iface || iface_read(iface, i, NULL))
		return error_set(site->error, -ENOENT,
				 did_you_mean("@drivers", name, "nicprobe driver ",
					      "nicprobe drivers"),
				 "no driver, module or interface is called \"%s\"", name);
	site->driver = driver_find(i->driver);
	*i->name = '\0';	/* calls for all interfaces of the driver are counted */
	return 0;
}

/*
 * A BPF file system private to this process: however the process ends, nothing is left behind.
 * Returns its descriptor or -errno; needs Linux 5.2.
 */
static int private_pins(struct error *e)
{
	int fs = fsopen("bpf", FSOPEN_CLOEXEC), fd = -1, err;

	if (fs >= 0 && !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	err = fd < 0 ? error_set(e, -errno, NULL, "cannot mount a private BPF file system: %s",
				 strerror(errno)) : 0;
	if (fs >= 0)
		close(fs);
	return err ?: fd;
}

static int attach(struct site *site, struct meta *meta)
{
	const struct meter *m = &meter_driver;
	const char *why = m->absent(site);
	struct bpf_object *obj;
	int err;

	if (why)
		return error_set(site->error, -EOPNOTSUPP, strstr(why, "not loaded") ?
				 text("modprobe %s", site->iface.driver) : NULL,
				 "cannot count the functions of %s: %s", site->iface.driver, why);
	obj = object_open(site, m->events.elf);
	err = obj ? m->events.attach(site, obj) : -EOPNOTSUPP;
	object_close(obj);
	if (err)
		return error_set(site->error, err, NULL, "cannot attach to %s: %s",
				 site->iface.driver, strerror(-err));
	snprintf(meta->absent[METER_driver], sizeof(meta->absent[0]), "%s", m->remark(site));
	meta->since = clock_ns(CLOCK_BOOTTIME);
	return meta_write(site->pins, meta, site->error);
}

static int look(const char *name, struct request *req, char **argv, const struct renderer *format)
{
	struct error e = {};
	struct site site = {
		.config = { .on = 1ull << METER_driver, .rows = 1 },
		.request = req,
		.error = &e,
	};
	struct meta meta = {
		.magic = META_MAGIC, .version = meta_version(),
		.on = 1ull << METER_driver, .rows = 1, .cpus = libbpf_num_possible_cpus(),
	};
	int fd, status;

	if (driver_choose(name, &site))
		return failed(&e);
	netns_go_home();
	meta.netns = netns_inode();
	meta.devices = driver_devices(site.iface.driver);
	snprintf(meta.driver, sizeof(meta.driver), "%s", site.iface.driver);
	fd = private_pins(&e);
	if (fd < 0)
		return failed(&e);
	snprintf(site.pins, sizeof(site.pins), "/proc/self/fd/%d", fd);
	signals_ready();
	if (attach(&site, &meta))
		return failed(&e);
	driver = meta.driver;
	measured_packets = packets;
	status = measured_run(site.pins, argv, format);
	pins_remove(site.pins, NULL);	/* now: the kernel may defer it past our exit */
	return status;
}

static int run(int argc, char **argv)
{
	struct request req = {
		.meters = 1ull << METER_driver, .by_name = true, .tell = tell,
	};
	struct error e = {};
	const char *name;
	int status;

	/* options may stand before and after the name; later ones belong to the command */
	if (!options_take(&command_driver, argc, argv, &req, &status))
		return status;
	name = argv[optind];
	if (name && ++optind < argc && !options_take(&command_driver, argc, argv, &req, &status))
		return status;
	if (!name)
		return usage_error("nicprobe driver DRIVER -- COMMAND", "driver: no driver given");
	if (kernel_permits_all(&e))
		return failed(&e);
	return look(name, &req, optind < argc ? argv + optind : NULL,
		    json_wanted ? &renderer_json : format_wanted);
}

const struct command command_driver = {
	.name = "driver",
	.args = "DRIVER | [NETNS/]IFACE [--functions GLOB,…] [-- COMMAND…]",
	.help = "count calls of a driver's functions while a command runs",
	.options = { driver_options, format_options },
	.wraps = true,
	.run = run,
};
