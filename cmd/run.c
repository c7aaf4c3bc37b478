/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe run: attach, run a command, show what was counted meanwhile, detach. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/child.h"
#include "cmd/cmd.h"
#include "findings/subjects.h"
#include "lib/attach/pins.h"
#include "lib/kernel/permits.h"
#include "lib/net/iface.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

uint64_t (*measured_packets)(void);
__u32 measured_netns;

/* Shows the difference to `before`; both snapshots must be of the same attachment. */
static int difference(const char *dir, struct snapshot *before, const struct renderer *format,
		      struct error *e)
{
	const struct look look = terminal_look();
	struct snapshot now = {};
	const struct snapshot *list = &now;
	int err = snapshot_take(&now, dir, e);

	if (!err && now.meta.since != before->meta.since)
		err = -ENOENT;
	if (!err) {
		snapshot_diff(&now, before);
		if (measured_packets)
			now.packets = measured_packets() - before->packets;
		now.counts = true;
		findings_judge(&now, NULL);
		if (format->begin)
			format->begin(stdout, &look);
		if (format->one)
			format->one(stdout, &now, &look);
		else
			format->all(stdout, &list, 1, &look);
		if (format->end)
			format->end(stdout, &look);
		output_flush();
	}
	snapshot_free(&now);
	return err;
}

int detach_ours(const char *dir, const struct meta *meta, struct error *e)
{
	int lock = pins_lock(true, e), err = lock < 0 ? lock : 0;
	struct meta now;

	if (!err && !meta_read(dir, &now, e) && now.since == meta->since)
		err = detach_pins(dir, meta->netns, false, e);
	pins_tidy();
	pins_unlock(lock);
	return err;
}

/* If the pins are gone, drops the error about the first missing one: it is not informative. */
static bool gone(int err, struct error *e)
{
	if (err != -ENOENT && err != -ENODATA)
		return false;
	error_forget(e);
	return true;
}

int measured_run(const char *dir, char **argv, const struct renderer *format)
{
	struct snapshot before = {};
	struct error e = {};
	int status, err;

	if (measured_packets)	/* calls the driver: must not run between the snapshots */
		before.packets = measured_packets();
	err = snapshot_take(&before, dir, &e);
	if (err) {
		if (gone(err, &e))
			error_set(&e, err, NULL,
				  "cannot read the attachment: someone detached it");
		error_set(&e, err, NULL, "cannot read the attachment: %s", strerror(-err));
		status = failed(&e);
	} else {
		status = argv ? child_run(argv) : child_wait();
		err = difference(dir, &before, format, &e);
		if (err) {
			if (gone(err, &e))
				error_set(&e, err, NULL,
					  "cannot read the counts of the attachment: "
					  "someone detached it");
			error_set(&e, err, NULL, "cannot read the counts of the attachment: %s",
				  strerror(-err));
			failed(&e);
		}
	}
	snapshot_free(&before);
	return status;
}

static int measure(const struct meta *meta, char **argv, const struct renderer *format)
{
	struct error e = {};
	char dir[256];
	int status;

	pins_dir(dir, sizeof(dir), meta->netns, meta->iface);
	status = measured_run(dir, argv, format);
	if (detach_ours(dir, meta, &e)) {
		error_set(&e, -EIO, "nicprobe detach --all", "cannot detach %s", meta->iface);
		failed(&e);
	}
	return status;
}

/* 0 if the command can be run, otherwise the exit status after printing an error. */
static int command_check(const char *iface, char **argv)
{
	int wrong = child_wrong(*argv);
	struct error e = {};

	if (!wrong)
		return 0;
	if (meter_find(*argv))
		return usage_error(text("nicprobe run %s -m %s -- COMMAND", iface, *argv),
				   "meters go with -m; there is no command \"%s\"", *argv);
	error_set(&e, -wrong, NULL, "cannot run %s: %s", *argv, strerror(wrong));
	failed(&e);
	return wrong == ENOENT ? 127 : 126;
}

static int run(int argc, char **argv)
{
	struct request req = { .meters = meters_default(), .tell = tell };
	struct error e = {};
	const char *iface;
	struct meta meta;
	int status;

	/* options may stand before and after the interface; later ones belong to the command */
	if (!options_take(&command_run, argc, argv, &req, &status))
		return status;
	iface = argv[optind];
	if (iface && ++optind < argc && !options_take(&command_run, argc, argv, &req, &status))
		return status;
	if (!iface || optind >= argc)
		return usage_error("nicprobe run IFACE -- COMMAND",
				   "run needs an interface and a command");
	if (!request_fits(&req))
		return EXIT_USAGE;
	status = command_check(iface, argv + optind);
	if (status)
		return status;
	if (kernel_permits(&e))
		return failed(&e);
	req.label = iface;
	iface = iface_enter(iface, NULL, &e);
	if (!iface)
		return failed(&e);
	measured_netns = strchr(req.label, '/') ? netns_inode() : 0;
	signals_ready();
	if (attach_iface(iface, &req, &meta, &e))
		return iface_failed(req.label, &e);
	netns_go_home();
	return measure(&meta, argv + optind, json_wanted ? &renderer_json : format_wanted);
}

const struct command command_run = {
	.name = "run",
	.args = "[NETNS/]IFACE [-m METER,…] [-f FORMAT] -- COMMAND…",
	.help = "attach, run a command, show what was counted, detach",
	.options = { request_options, driver_options, format_options },
	.wraps = true,
	.run = run,
};
