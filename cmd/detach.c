/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe detach: stop measuring an interface and remove everything. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "lib/attach/pins.h"
#include "lib/kernel/permits.h"
#include "lib/util/error.h"
#include "lib/util/shortage.h"

static int one(const char *arg, bool force)
{
	struct error e = {};
	__u32 netns;
	const char *iface = iface_enter(arg, &netns, &e);
	int err;

	if (!iface)
		return failed(&e);
	err = detach_iface(netns, iface, force, &e);
	if (err == -ENOENT && !shortage(&e))
		error_set(&e, err, "nicprobe list", "%s is not attached", arg);
	else if (err)
		error_set(&e, err, NULL, "cannot detach %s: %s", arg, strerror(-err));
	if (err)
		return failed(&e);
	return EXIT_SUCCESS;
}

struct detaching {
	bool force;
	int status;
};

static int each(const char *dir, __u32 netns, const char *iface, void *arg)
{
	struct detaching *all = arg;
	struct error e = {};
	int err = detach_pins(dir, netns, all->force, &e);

	if (err) {
		error_set(&e, err, NULL, "cannot detach %s: %s", iface, strerror(-err));
		all->status = failed(&e);
	}
	netns_go_home();
	return 0;
}

static int every(bool force)
{
	struct detaching all = { force, EXIT_SUCCESS };
	struct error e = {};
	int lock = pins_lock(true, &e);

	if (lock < 0)
		return failed(&e);
	pins_each(each, &all);
	pins_tidy();
	pins_unlock(lock);
	return all.status;
}

struct detach_options {
	bool all, force;
};

static const struct option_spec options[] = {
	{ 'a', "all", NULL, "detach every interface in every namespace", OPTION_FLAG,
	  INTO(struct detach_options, all) },
	{ 0, "force", NULL, "also remove what another version left", OPTION_FLAG,
	  INTO(struct detach_options, force) },
	{}
};

static int run(int argc, char **argv)
{
	struct error e = {};
	struct detach_options wanted = {};
	int status;

	if (!options_take(&command_detach, argc, argv, &wanted, &status))
		return status;
	if (wanted.all == (optind + 1 == argc) || optind + 1 < argc)
		return usage_error("nicprobe detach IFACE, or: nicprobe detach --all",
				   wanted.all ? "detach takes one interface or --all, not both" :
				   optind == argc ? "detach: no interface given" :
				   "detach takes one interface or --all");
	if (kernel_permits(&e))
		return failed(&e);
	netns_go_home();
	return wanted.all ? every(wanted.force) : one(argv[optind], wanted.force);
}

const struct command command_detach = {
	.name = "detach",
	.args = "[NETNS/]IFACE | --all",
	.help = "stop measuring an interface and remove everything",
	.options = { options },
	.run = run,
};
