/* SPDX-License-Identifier: GPL-2.0 */
/* Chooses and attaches a hook for each point that packet meters look at. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "lib/attach/attach.h"
#include "lib/attach/object.h"
#include "lib/attach/points.h"
#include "lib/core/meter.h"
#include "lib/kernel/feature.h"
#include "lib/util/error.h"
#include "lib/util/interrupt.h"
#include "lib/util/shortage.h"

unsigned points_of(__u64 meters_on)
{
	unsigned points = 0;

	for (int id = 0; id < NR_METERS; id++)
		if (meters_on >> id & 1 && meters[id]->type == PACKET_METER)
			points |= meter_points(meters[id]);
	return points;
}

void note_once(char *to, size_t size, const char *why)
{
	if (!*to)
		snprintf(to, size, "%s", why);
}

/* "not xdp: …; not driver: …" */
void note_hook(char *to, size_t size, const char *hook, const char *why)
{
	size_t at = strlen(to);

	snprintf(to + at, size - at, "%snot %s: %s", at ? "; " : "", hook, why);
}

int attach_stopped(const struct site *site)
{
	if (!interrupted())
		return shortage(site->error);
	error_forget(site->error);
	return error_set(site->error, -EINTR, NULL, "interrupted: nothing is attached");
}

/* Notes points that the shared object serves, which set_attach() loads later. */
static int hook_share(const struct site *site, const struct hook *hook, struct meta *meta)
{
	const char *why = kernel_lacks(FEATURE_TP_BTF);

	if (why)
		return error_set(site->error, -EOPNOTSUPP, NULL, "%s", why);
	for (int p = 0; p < NR_POINTS; p++)
		if (hook->points >> p & 1 && points_of(meta->on) >> p & 1) {
			snprintf(meta->hook[p], sizeof(meta->hook[p]), "%s", hook->how[p]);
			meta->set[site->set].points |= 1u << p;
		}
	return 0;
}

static int hook_attach(const struct site *site, const struct hook *hook, struct meta *meta)
{
	struct site own = *site;
	struct bpf_object *obj;
	char how[48] = "";
	int err;

	if (!hook->elf)
		return hook_share(site, hook, meta);
	if (hook->configure)
		hook->configure(&own.config);
	obj = object_open(&own, hook->elf);
	if (!obj)
		return -EOPNOTSUPP;
	err = hook->attach(&own, obj, how, sizeof(how));
	for (int p = 0; !err && p < NR_POINTS; p++)
		if (hook->points >> p & 1)
			snprintf(meta->hook[p], sizeof(meta->hook[p]), "%s", how);
	if (!err)
		meta->buffers_at_tc |= own.config.buffers_at_tc;
	if (err && hook->detach)
		hook->detach(site);
	object_close(obj);
	return err;
}

/* Attaches the best hook that works for a point; the note says why better ones do not. */
static int point_attach(const struct site *site, const struct request *req, enum point point,
			struct meta *meta)
{
	const char *only = point == RX_NIC ? req->rx : NULL;
	char *why = meta->note[point];

	for (const struct hook *const *t = hooks; *t; t++) {
		const char *no;

		if (!((*t)->points >> point & 1) || (only && strcmp(only, (*t)->name)))
			continue;
		no = denied((*t)->name);
		if (!no && !only && (*t)->avoid)
			no = (*t)->avoid(site);
		if (!no && req->aside && (*t)->elf)
			no = "it would be in the path of the packets";
		if (!no && !hook_attach(site, *t, meta)) {
			error_forget(site->error);
			return attach_stopped(site);
		}
		if (attach_stopped(site))
			return attach_stopped(site);
		note_hook(why, sizeof(meta->note[point]), (*t)->name,
			  no ?: error_what(site->error));
		if (only)
			return !no ? -EOPNOTSUPP :
			       error_set(site->error, -EOPNOTSUPP, NULL, "cannot use --rx %s: %s",
					 only, no);
		error_forget(site->error);
	}
	note_once(why, sizeof(meta->note[point]), "not asked for (--rx tc)");
	return 0;
}

int points_attach(const struct site *site, const struct request *req, struct meta *meta)
{
	unsigned points = points_of(meta->on);
	int err = 0;

	for (int p = 0; p < NR_POINTS && !err; p++)
		if (points >> p & 1 && !*meta->hook[p])
			err = point_attach(site, req, p, meta);
	return err;
}
