/* SPDX-License-Identifier: GPL-2.0 */
/* The lists of words: commands, meters, interfaces and the like; and the nearest word of a list. */
#include <grp.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "cmd/bench.h"
#include "cmd/cmd.h"
#include "cmd/views.h"
#include "cmd/words.h"
#include "findings/subjects.h"
#include "lib/attach/pins.h"
#include "lib/core/hook.h"
#include "lib/core/nic_driver.h"
#include "lib/net/iface.h"
#include "lib/util/log.h"
#include "lib/util/near.h"
#include "probes/probe.h"
#include "render/series.h"

struct teller {
	word_fn *tell;
	void *arg;
};

static void tell_commands(word_fn *tell, void *arg)
{
	for (const struct command *const *c = commands; *c; c++)
		if ((*c)->help)
			tell((*c)->name, arg);
}

static void tell_meters(word_fn *tell, void *arg)
{
	for (int id = 0; id < NR_METERS; id++)
		tell(meters[id]->name, arg);
}

static void tell_formats(word_fn *tell, void *arg)
{
#define R(format) tell(renderer_##format.name, arg);
	RENDERERS(R)
#undef R
}

static void tell_hooks(word_fn *tell, void *arg)
{
	tell("auto", arg);
	for (const struct hook *const *t = hooks; *t; t++)
		if (hook_choosable(*t))
			tell((*t)->name, arg);
}

static void tell_drivers(word_fn *tell, void *arg)
{
	for (const struct driver *const *d = drivers; *d; d++)
		if (!strchr((*d)->name, ' '))
			tell((*d)->name, arg);
}

static void tell_findings(word_fn *tell, void *arg)
{
	for (const struct subject *const *s = subjects; *s; s++)
		for (unsigned i = 0; (*s)->kind(i); i++)
			tell((*s)->kind(i)->id, arg);
}

static bool of_netns(const char *netns, void *arg)
{
	struct if_nameindex *list = if_nameindex();
	struct teller *t = arg;

	for (struct if_nameindex *i = list; i && i->if_index; i++)
		t->tell(text("%s%s%s", netns, *netns ? "/" : "", i->if_name), t->arg);
	if (list)
		if_freenameindex(list);
	return false;
}

static void tell_interfaces(word_fn *tell, void *arg)
{
	netns_each(of_netns, &(struct teller){ tell, arg }, NULL);
}

static int attachment(const char *dir, __u32 netns, const char *iface, void *arg)
{
	struct teller *t = arg;
	char label[96];

	(void)dir;
	iface_label(netns, iface, label, sizeof(label));
	t->tell(label, t->arg);
	return 0;
}

static void tell_attached(word_fn *tell, void *arg)
{
	pins_each(attachment, &(struct teller){ tell, arg });
}

static void tell_scenarios(word_fn *tell, void *arg)
{
	for (const struct scenario *const *s = scenarios; *s; s++)
		tell((*s)->name, arg);
}

static void tell_each(word_fn *tell, void *arg)
{
	for (unsigned i = 0; i < NR_EACH; i++)
		tell(each_names[i], arg);
}

static void tell_probes(word_fn *tell, void *arg)
{
	for (int p = 0; p < NR_STABLE_PROBES; p++)
		tell(probe_name(p), arg);
}

static void tell_groups(word_fn *tell, void *arg)
{
	setgrent();
	for (struct group *g; (g = getgrent());)
		tell(g->gr_name, arg);
	endgrent();
}

bool words_listed(const char *list, word_fn *tell, void *arg)
{
	static const struct {
		const char *list;
		void (*tell)(word_fn *, void *arg);
	} lists[] = {
		{ "commands", tell_commands }, { "meters", tell_meters },
		{ "formats", tell_formats }, { "hooks", tell_hooks },
		{ "drivers", tell_drivers }, { "findings", tell_findings },
		{ "interfaces", tell_interfaces }, { "attached", tell_attached },
		{ "scenarios", tell_scenarios }, { "each", tell_each },
		{ "groups", tell_groups }, { "probes", tell_probes }, { "views", views_each },
	};

	for (unsigned i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (!strcmp(list, lists[i].list)) {
			lists[i].tell(tell, arg);
			return true;
		}
	return false;
}

void words_each(const char *words, word_fn *tell, void *arg)
{
	char *copy = strdupa(words), *rest;

	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		if (*word == '@')
			words_listed(word + 1, tell, arg);
		else
			tell(word, arg);
}

static void nearer(const char *word, void *near)
{
	near_try(near, word);
}

const char *did_you_mean(const char *words, const char *wrong, const char *before,
			 const char *otherwise)
{
	struct near near = near_to(wrong);

	words_each(words, nearer, &near);
	return *near.name ? text("%s%s", before, near.name) : otherwise;
}
