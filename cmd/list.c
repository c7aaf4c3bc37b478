/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe list: what is attached. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../lib/iface.h"
#include "../lib/log.h"
#include "../lib/pins.h"
#include "../render/json_writer.h"
#include "../render/shown.h"
#include "../render/text.h"
#include "cmd.h"
#include "describe.h"

static struct page page;

static void on_names(const struct meta *meta, char *names, size_t size)
{
	int at = 0;

	*names = 0;
	for (int id = 0; id < NR_METERS; id++)
		if (meta->on >> id & 1 && at < (int)size)
			at += snprintf(names + at, size - at, "%s%s", at ? " " : "",
				       meters[id]->name);
}

static double age(const struct meta *meta)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec + t.tv_nsec * 1e-9 - meta->since * 1e-9;
}

static void row_json(struct json *j, const struct meta *meta, const char *label, const char *state)
{
	json_open(j, NULL, '{');
	json_interface(j, meta, label);
	json_double(j, "seconds", age(meta));
	attached_meters(j, meta);
	if (*state)
		json_string(j, "state", state);
	json_close(j, '}');
}

static void row_text(const struct meta *meta, const char *label, const char *state)
{
	char names[256];

	on_names(meta, names, sizeof(names));
	page_line(&page, 0, text("%-16s %-12s %9.0f s", label, meta->driver, age(meta)), 43, names);
	if (*state)
		page_remark(&page, 2, state);
}

static int each(const char *dir, __u32 netns, const char *iface, void *arg)
{
	struct attached now = {};
	struct meta meta;
	char label[96];
	int err;

	iface_label(netns, iface, label, sizeof(label));
	err = meta_read(dir, &meta);
	if (err) {
		const char *why = text("%s: %s", label, err == -ENODATA ?
				       "an attach that was cut short; the next attach or detach "
				       "removes it" : complaint());
		const char *try = text("%s", complaint_try());

		complaints_forget();
		complain(err, try, "%s", why);
		failed();
		complaints_forget();
		return 0;
	}
	attached_state(&meta, &now);
	netns_go_home();
	if (arg)
		row_json(arg, &meta, label, now.state);
	else
		row_text(&meta, label, now.state);
	return 0;
}

static int list_attached(void)
{
	struct json j = { .out = stdout };
	int lock = pins_lock(false);

	if (lock < 0 && lock != -ENOENT)
		return failed();
	if (json_wanted)
		json_open(&j, NULL, '[');
	if (lock >= 0)
		pins_each(each, json_wanted ? &j : NULL);
	else if (!json_wanted)
		puts("nothing is attached");
	if (json_wanted) {
		json_close(&j, ']');
		putchar('\n');
	}
	pins_unlock(lock);
	return EXIT_SUCCESS;
}

static int run(int argc, char **argv)
{
	static const struct option options[] = { COMMON_LONG, {} };
	struct look look;
	__u64 only = 0, bits;
	bool all = false;
	int o, status;

	while ((o = getopt_long(argc, argv, ":" COMMON_SHORT, options, NULL)) >= 0) {
		if (o == 'v')
			all = true;
		else if (common_option(&command_list, o, argv, &status))
			return status;
	}
	if (optind != argc && !all)
		return usage_error(text("nicprobe list -v %s", argv[optind]),
				   "list takes a meter with -v alone");
	for (; optind < argc; only |= bits, optind++) {
		bits = meters_parse(argv[optind]);
		if (!bits)
			return EXIT_USAGE;
	}
	look = terminal_look();
	page = (struct page){ .out = stdout, .look = &look,
			      .width = look.width < 60 ? 60 : look.width };
	netns_go_home();
	if (all && json_wanted)
		describe_json(only);
	else if (all)
		describe(&page, only);
	else
		return list_attached();
	return EXIT_SUCCESS;
}

const struct command command_list = {
	.name = "list",
	.args = "[-v [METER…]]",
	.help = "what is attached; -v: all that can be measured here",
	.options =
	"  -v, --verbose [METER…] all there is to measure; what works here, and why not;\n"
	"                         or all about these meters\n",
	.run = run,
};
