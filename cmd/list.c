/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe list: what is attached; with -v what nicprobe is made of, and what of it works here. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "../lib/driver.h"
#include "../lib/iface.h"
#include "../lib/kernel.h"
#include "../lib/log.h"
#include "../lib/pins.h"
#include "../lib/tap.h"
#include "../render/json_writer.h"
#include "../render/text.h"
#include "cmd.h"

static struct look look;
static struct page page;

/* A name, and from `column` on what there is to say, wrapped under its beginning. */
static void line(unsigned indent, const char *name, unsigned column, const char *what)
{
	page_spaces(&page, indent);
	page_put(&page, name, -1);
	page_spaces(&page, page.at + 1 < column ? column - page.at : 1);
	page_wrap(&page, column, what);
	page_newline(&page);
}

/* A sentence; further lines of it are two further in. */
static void remark(unsigned indent, const char *what)
{
	page_spaces(&page, indent);
	page_wrap(&page, indent + 2, what);
	page_newline(&page);
}

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
	char names[256];

	on_names(meta, names, sizeof(names));
	json_open(j, NULL, '{');
	json_string(j, "interface", label);
	json_uint(j, "ifindex", meta->ifindex);
	json_uint(j, "netns", meta->netns);
	json_string(j, "driver", meta->driver);
	json_double(j, "seconds", age(meta));
	json_string(j, "meters", names);
	if (*state)
		json_string(j, "state", state);
	json_close(j, '}');
}

static void row_text(const struct meta *meta, const char *label, const char *state)
{
	char names[256];

	on_names(meta, names, sizeof(names));
	line(0, text("%-16s %-12s %9.0f s", label, meta->driver, age(meta)), 43, names);
	if (*state)
		remark(2, state);
}

static int each(const char *dir, __u32 netns, const char *iface, void *arg)
{
	char label[96], state[200];
	struct meta meta;
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
	attached_state(&meta, state, sizeof(state));
	netns_go_home();
	if (arg)
		row_json(arg, &meta, label, state);
	else
		row_text(&meta, label, state);
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

static void works(const char *no)
{
	if (no)
		remark(6, text("not here: %s", no));
}

/* Its unit is said where its key does not end with it. */
static void describe_metric(const struct metric *k)
{
	size_t len = strlen(k->unit);
	char key[64];

	metric_key(k, key, sizeof(key));
	if (strlen(key) < len || strcmp(key + strlen(key) - len, k->unit))
		line(6, text("%-13s %s", key, k->unit), 34, k->help);
	else
		line(6, key, 34, k->help);
}

static void describe_meters(void)
{
	puts("Meters, and what they count");
	for (int id = 0; id < NR_METERS; id++) {
		const struct meter *m = meters[id];

		line(2, m->name, 15, m->sample ?
		     text("%s: 1 packet in %u", m->help, m->sample) : m->help);
		for_each_metric(k, m)
			describe_metric(k);
		if (m->on_request)
			remark(6, text("only on request, -m %s: %s", m->name, m->on_request));
	}
}

static void describe_taps(void)
{
	puts("\nTaps, where packets are seen; for each point the first that works is taken");
	for (const struct tap *const *t = taps; *t; t++) {
		const char *at = "at";

		line(2, (*t)->name, 15, (*t)->help);
		for (int p = 0; p < NR_POINTS; p++)
			if ((*t)->points >> p & 1)
				at = text("%s %s", at, point_names[p]);
		remark(6, at);
		works(kernel_cannot((*t)->name));
	}
}

static void describe_drivers(void)
{
	puts("\nDrivers that nicprobe knows; others work, too");
	for (const struct driver *const *d = drivers; *d; d++) {
		line(2, (*d)->name, 15, (*d)->help);
		if ((*d)->no_xdp)
			remark(6, "it has no native XDP");
		else if ((*d)->xdp)
			remark(6, text("attaching XDP %s", (*d)->xdp));
		if ((*d)->no_completion)
			remark(6, text("no txlat: %s", (*d)->no_completion));
	}
}

static void describe_ways(void)
{
	struct utsname kernel;

	if (kernel_permits()) {
		printf("\nWhich ways into this kernel work: %s to find out\n", complaint());
		return;
	}

	uname(&kernel);
	printf("\nWays into this kernel (%s), best first\n", kernel.release);
	for (const struct way *w = ways; w->name; w++) {
		const char *no = kernel_cannot(w->name);

		printf("  %-12s %-40s %s\n", w->name, w->help, no ? "no" : "yes");
		works(no);
	}
}

static int run(int argc, char **argv)
{
	static const struct option options[] = { COMMON_LONG, {} };
	bool describe = false;
	int o, status;

	while ((o = getopt_long(argc, argv, ":" COMMON_SHORT, options, NULL)) >= 0) {
		if (o == 'v')
			describe = true;
		else if (common_option(&command_list, o, argv, &status))
			return status;
	}
	if (optind != argc)
		return usage_error("nicprobe list", "list takes no operand");
	look = terminal_look();
	page = (struct page){ .out = stdout, .look = &look,
			      .width = look.width < 60 ? 60 : look.width };
	netns_go_home();
	if (!describe && kernel_permits())
		return failed();
	if (!describe)
		return list_attached();
	describe_meters();
	describe_taps();
	describe_drivers();
	describe_ways();
	return EXIT_SUCCESS;
}

const struct command command_list = {
	.name = "list",
	.args = "[-v]",
	.help = "what is attached; -v: all that can be measured here",
	.options =
	"  -v, --verbose          all there is to measure; what works here, and why not\n",
	.run = run,
};
