/* SPDX-License-Identifier: GPL-2.0 */
/* Parses the arguments of `nicprobe show`: interfaces, meters, labels. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/show.h"
#include "cmd/words.h"
#include "lib/attach/pins.h"
#include "lib/net/here.h"
#include "lib/net/iface.h"
#include "lib/util/error.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"
#include "lib/util/near.h"
#include "lib/util/shortage.h"
#include "render/series.h"

char *show_more(struct view *v)
{
	void *more = grow(v->dirs, v->nr, sizeof(*v->dirs));

	if (!more) {
		error_set(v->error, -ENOMEM, NULL, "out of memory for %u interfaces", v->nr + 1);
		return NULL;
	}
	v->dirs = more;
	return v->dirs[v->nr++];
}

/* Collects readable attachments; prints an error for the others (of another version, say). */
static int collect(const char *dir, __u32 netns, const char *iface, void *arg)
{
	struct view *v = arg;
	struct error e = {};
	struct meta meta;
	int err = meta_read(dir, &meta, &e);
	char *to;

	(void)netns, (void)iface;
	if (err && err != -ENOENT && err != -ENODATA)
		failed(&e);
	v->unread += !!err;
	to = err ? NULL : show_more(v);
	if (to)
		snprintf(to, DIR_SIZE, "%s", dir);
	return err || to ? 0 : -ENOMEM;
}

static int nearest(const char *dir, __u32 netns, const char *iface, void *arg)
{
	struct near *near = arg;
	char label[96];

	(void)dir;
	iface_label(netns, iface, label, sizeof(label));
	if (strcmp(iface, near->wanted)) {
		near_try(near, label);
	} else {		/* the same name in another namespace: the best suggestion */
		snprintf(near->name, sizeof(near->name), "%s", label);
		near->best = 0;
	}
	return 0;
}

static int not_attached(const struct view *v, const char *arg)
{
	struct near near = near_to(arg);

	pins_each(nearest, &near);
	return error_set(v->error, -ENOENT, *near.name ? text("nicprobe show %s", near.name) :
			 text("nicprobe attach %s", arg), "%s is not attached", arg);
}

/* Finds the pins of the interface the user typed, by its present or its former name. */
static int find(struct view *v, const char *arg)
{
	__u32 netns;
	const char *iface = iface_enter(arg, &netns, v->error) ?:
			    iface_outside(arg, &netns, v->error);
	unsigned ifindex = iface && netns == netns_inode() ? iface_index_of(iface) : 0;
	char *dir = iface ? show_more(v) : NULL;
	struct meta meta;
	bool found;
	int err;

	if (!dir)
		return -ENOENT;
	found = ifindex && pins_find(netns, ifindex, dir, DIR_SIZE);
	if (!found)
		pins_dir(dir, DIR_SIZE, netns, iface);
	netns_go_home();
	v->iface = arg;
	err = found ? 0 : meta_read(dir, &meta, v->error);
	if (err == -ENOENT || err == -ENODATA)	/* shortage(): the search itself failed */
		return shortage(v->error) ?: not_attached(v, arg);
	return err;
}

int show_interfaces(struct view *v, const char *iface)
{
	if (only_hw(v) && iface) {
		char *name = show_more(v);

		if (name)
			snprintf(name, DIR_SIZE, "%s", iface);
		return name ? 0 : -ENOMEM;
	}
	if (only_hw(v)) {
		show_hw_interfaces(v);
		return v->nr || v->format->all ? 0 :
		       error_set(v->error, -ENODEV, "nicprobe show IFACE hw",
				 "no interface here has a device");
	}
	if (iface)
		return find(v, iface);
	return pins_each(collect, v);
}

int show_sections(struct view *v, char **words)
{
	for (; *words; words++) {
		char *names = strdupa(*words), *rest;

		if (*names && !names[strspn(names, ",")] && !meters_parse(names))
			return EXIT_USAGE;
		for (char *name = strtok_r(names, ",", &rest); name;
		     name = strtok_r(NULL, ",", &rest)) {
			__u64 bits;

			if (strcmp(name, "hw") && !meter_find(name) &&
			    (strchr(name, '/') || iface_index_of(name)))
				return usage_error(text("nicprobe show %s …", name),
						   "the interface comes first, then what to show "
						   "of it");
			bits = strcmp(name, "hw") ? meters_parse(name) : 0;
			if (strcmp(name, "hw") && !bits)
				return EXIT_USAGE;
			v->hw |= !bits;
			v->wanted |= bits;
		}
	}
	return 0;
}

bool show_each(const char *list, unsigned *bits)
{
	char *words = strdupa(list), *save;

	for (char *word = strtok_r(words, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		unsigned i = 0;

		while (i < NR_EACH && strcmp(word, each_names[i]))
			i++;
		if (i == NR_EACH) {
			usage_error(did_you_mean("@each", word, "--each ", "--each queue"),
				    "--each takes queue, cpu, interrupt, flow, source, remote, "
				    "domain or own, not \"%s\"", word);
			return false;
		}
		*bits |= 1 << i;
	}
	return true;
}

unsigned show_named(__u64 wanted)
{
	unsigned bits = 0;

	for (int id = 0; id < NR_METERS; id++)
		for (unsigned i = 0; wanted >> id & 1 && meters[id]->key.each && i < NR_EACH; i++)
			bits |= (unsigned)!strcmp(meters[id]->key.each, each_names[i]) << i;
	return bits;
}
