/* SPDX-License-Identifier: GPL-2.0 */
/* Detach: removes everything that a complete or partial attach made. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/attach/attach.h"
#include "lib/attach/slots.h"
#include "lib/attach/pins.h"
#include "lib/core/hook.h"
#include "lib/net/here.h"
#include "lib/net/iface.h"
#include "lib/util/error.h"
#include "lib/util/shortage.h"

int attach_undo(const struct site *site)
{
	int err;

	for (const struct hook *const *t = hooks; *t; t++)
		if ((*t)->detach)
			(*t)->detach(site);
	err = host_leave(site);
	return pins_remove(site->pins, site->error) ?: err;
}

/* Why a hook would stay if its pins went; NULL: none would. */
static const char *kept_by(const struct meta *meta)
{
	const char *why = NULL;

	for (const struct hook *const *t = hooks; *t && !why; t++)
		for (int p = 0; (*t)->keeps && p < NR_POINTS && !why; p++)
			if ((*t)->points >> p & 1)
				why = (*t)->keeps(meta->hook[p]);
	return why;
}

int detach_pins(const char *dir, __u32 netns, bool force, struct error *e)
{
	struct site site = { .error = e };
	struct meta meta;
	__u32 here;
	int err = netns_known(&here, e);

	if (err)
		return err;
	err = meta_read(dir, &meta, e);
	/* pins that cannot be read now may be intact: they stay */
	if (err && err != -ENODATA && !(err == -EPROTO && force))
		return err;
	error_forget(e);
	snprintf(site.pins, sizeof(site.pins), "%s", dir);
	/* if the namespace is nameless or gone, go on; but a shortage of files looks the same */
	shortage_forget();
	site.gone = netns_enter_same(netns, err ? 0 : meta.cookie, NULL);
	if (site.gone && shortage(e))
		return shortage(e);
	if (!err && !site.gone && kept_by(&meta))
		return error_set(e, -EPERM, "run it as root", "%s stays attached: %s",
				 strrchr(dir, '/') + 1, kept_by(&meta));
	if (!err)
		site.iface.ifindex = meta.ifindex, site.iface.host = meta.host;
	else
		snprintf(site.iface.name, sizeof(site.iface.name), "%s", strrchr(dir, '/') + 1);
	if (err) {	/* cut short before meta: the name of the directory is all we know */
		for (char *c = site.iface.name; *c; c++)
			*c = *c == ':' ? '.' : *c;
		site.iface.ifindex = iface_index_of(site.iface.name);
	}
	return attach_undo(&site);
}

int detach_iface(__u32 netns, const char *name, bool force, struct error *e)
{
	/* only the current namespace can be asked for an index */
	unsigned ifindex = netns == netns_inode() ? iface_index_of(name) : 0;
	char dir[256];
	int lock = pins_lock(true, e), err;

	if (lock < 0)
		return lock;
	if (!ifindex || !pins_find(netns, ifindex, dir, sizeof(dir)))
		pins_dir(dir, sizeof(dir), netns, name);
	err = detach_pins(dir, netns, force, e);
	pins_tidy();
	pins_unlock(lock);
	return err;
}
