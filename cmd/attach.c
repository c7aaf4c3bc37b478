/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe attach: start measuring an interface. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "lib/attach/adjust.h"
#include "lib/core/nic_driver.h"
#include "lib/kernel/permits.h"
#include "lib/net/iface.h"
#include "lib/util/error.h"
#include "lib/util/interrupt.h"
#include "lib/util/log.h"

/* --rx xdp was asked for by name: attach, but first warn about the effect on traffic. */
static void warn(const char *iface, const struct request *req)
{
	const struct driver *d;
	struct iface i;

	if (!req->rx || strcmp(req->rx, "xdp") || iface_read(iface, &i, NULL))
		return;
	d = driver_find(i.driver);
	if (i.gso_frames)
		tell(text("%s may receive GSO frames of many packets each; XDP counts such a frame "
			  "as one packet; without --rx xdp, each packet is counted", iface));
	if (d->xdp)
		tell(text("attaching XDP to %s (%s) %s%s%s", iface, d->name, d->xdp,
			  d->xdp_takes ? "; it takes " : "", d->xdp_takes ?: ""));
}

static int run(int argc, char **argv)
{
	struct request req = { .meters = meters_default(), .tell = tell };
	struct error e = {};
	const char *iface;
	struct meta meta;
	static char label[96];
	int status;

	if (!options_take(&command_attach, argc, argv, &req, &status))
		return status;
	if (optind + 2 == argc && meter_find(argv[optind + 1]))
		return usage_error(text("nicprobe attach %s -m %s", argv[optind], argv[optind + 1]),
				   "meters go with -m");
	if (optind + 1 != argc)
		return usage_error("nicprobe attach IFACE", optind == argc ?
				   "attach: no interface given" : "attach takes one interface");
	if (!request_fits(&req))
		return EXIT_USAGE;
	if (kernel_permits(&e))
		return failed(&e);
	iface = iface_enter(argv[optind], NULL, &e);
	if (!iface)
		return failed(&e);
	req.label = argv[optind];
	warn(iface, &req);
	interrupts_hold();
	status = req.added | req.removed ? adjust_iface(iface, &req, &meta, &e) : -ENOENT;
	if (status == -ENOENT) {
		error_forget(&e);
		status = attach_iface(iface, &req, &meta, &e);
	}
	if (status) {
		status = iface_failed(argv[optind], &e);
		interrupts_release();	/* a pending signal now takes its effect */
		return status;
	}
	interrupts_done();
	netns_go_home();
	iface_label(meta.netns, meta.iface, label, sizeof(label));
	/* if writing the output fails, the error must mention that the interface stays attached */
	stays_attached = label;
	(json_wanted ? attached_json : attached_print)(stdout, &meta, label);
	return EXIT_SUCCESS;
}

const struct command command_attach = {
	.name = "attach",
	.args = "[NETNS/]IFACE [-m METER,…] [--rx HOOK] [--sample N] [OPTION…]",
	.help = "start measuring an interface",
	.options = { request_options, driver_options },
	.run = run,
};
