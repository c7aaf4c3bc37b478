/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe complete WHAT: the words that shell completion offers, one per line. */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/bench.h"
#include "cmd/cmd.h"
#include "findings/subjects.h"
#include "lib/attach/pins.h"
#include "lib/core/hook.h"
#include "lib/core/nic_driver.h"
#include "lib/net/iface.h"
#include "render/series.h"

static void print_commands(void)
{
	for (const struct command *const *c = commands; *c; c++)
		if ((*c)->help)
			puts((*c)->name);
}

static void print_meters(void)
{
	for (int id = 0; id < NR_METERS; id++)
		puts(meters[id]->name);
}

static void print_formats(void)
{
#define R(format) puts(renderer_##format.name);
	RENDERERS(R)
#undef R
}

static void print_hooks(void)
{
	puts("auto");
	for (const struct hook *const *t = hooks; *t; t++)
		if (hook_choosable(*t))
			puts((*t)->name);
}

static void print_drivers(void)
{
	for (const struct driver *const *d = drivers; *d; d++)
		if (!strchr((*d)->name, ' '))
			puts((*d)->name);
}

static void print_findings(void)
{
	for (const struct subject *const *s = subjects; *s; s++)
		for (unsigned i = 0; (*s)->kind(i); i++)
			puts((*s)->kind(i)->id);
}

static bool print_of_netns(const char *netns, void *arg)
{
	struct if_nameindex *list = if_nameindex();

	(void)arg;
	for (struct if_nameindex *i = list; i && i->if_index; i++)
		printf("%s%s%s\n", netns, *netns ? "/" : "", i->if_name);
	if (list)
		if_freenameindex(list);
	return false;
}

static void print_interfaces(void)
{
	netns_each(print_of_netns, NULL, NULL);
}

static void print_each(void)
{
	for (unsigned i = 0; i < NR_EACH; i++)
		puts(each_names[i]);
}

static int each(const char *dir, __u32 netns, const char *iface, void *arg)
{
	char label[96];

	(void)dir, (void)arg;
	iface_label(netns, iface, label, sizeof(label));
	puts(label);
	return 0;
}

static void print_attached(void)
{
	pins_each(each, NULL);
}

static void print_scenarios(void)
{
	for (const struct scenario *const *s = scenarios; *s; s++)
		puts((*s)->name);
}

static int run(int argc, char **argv)
{
	static const struct {
		const char *what;
		void (*print)(void);
	} words[] = {
		{ "commands", print_commands }, { "meters", print_meters },
		{ "formats", print_formats }, { "hooks", print_hooks },
		{ "drivers", print_drivers }, { "findings", print_findings },
		{ "interfaces", print_interfaces }, { "each", print_each },
		{ "attached", print_attached }, { "scenarios", print_scenarios },
	};

	for (unsigned i = 0; argc == 2 && i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(argv[1], words[i].what)) {
			words[i].print();
			return EXIT_SUCCESS;
		}
	return usage_error("nicprobe complete commands",
			   "complete takes one of: commands meters formats hooks drivers "
			   "findings interfaces attached scenarios each");
}

const struct command command_complete = {
	.name = "complete",
	.args = "commands|meters|formats|hooks|drivers|findings|interfaces|attached|scenarios|each",
	.run = run,
};
