/* SPDX-License-Identifier: GPL-2.0 */
/* How output marks the figures of a meter that does not follow every packet. */
#include <math.h>
#include <string.h>

#include "lib/util/log.h"
#include "render/sampled.h"
#include "render/units.h"

const char *sampled_text(const struct snapshot *s, int id)
{
	bool fixed = !meter_adapts(meters[id], &s->meta);
	unsigned n = meter_sample(meters[id], &s->meta);
	struct thinned t = thinned_of(s, id);
	char seen[UNITS_SIZE], taken[UNITS_SIZE], paused[UNITS_SIZE];
	const char *line;

	if (!meters[id]->thins.take || meter_has_all(s, id))
		return NULL;
	if (!t.taken && !t.passed)
		return text("1 packet in %u", n);
	units_count(seen, t.taken + t.passed);
	units_count(taken, t.taken);
	units_count(paused, t.paused);
	line = t.taken ? text("1 packet in %.4g: %s of %s", fixed ? n : meter_one_in(s, id), taken,
			      seen) : text("none of %s packets", seen);
	if (t.paused && t.paused == t.passed && !t.taken)
		return text("%s: it was paused", line);
	return t.paused ? text("%s; none of %s while it was paused", line, paused) : line;
}

const char *sampled_label(const struct snapshot *s, int id)
{
	if (!meter_thins(s, id))
		return "";
	return meter_adapts(meters[id], &s->meta) ? "auto" :
	       text("%u", meter_sample(meters[id], &s->meta));
}

const char *sampled_rule(const struct meta *meta)
{
	if (meta->budget)
		return text("packets timed in %.4g%% of each CPU", meta->budget / 1e4);
	return meta->sample > 1 ? text("1 packet in %u timed", meta->sample) : NULL;
}

const char *sampled_meters(const struct meta *meta)
{
	const char *names = "";

	for (int id = 0; id < NR_METERS; id++)
		if (meta->on >> id & 1 && meters[id]->thins.take)
			names = text("%s%s%s", names, *names ? ", " : "", meters[id]->name);
	if (!*names)
		return NULL;
	if (meta->budget)
		return text("%s: packets in %.4g%% of each CPU", names, meta->budget / 1e4);
	if (meta->adapts)
		return text("%s: all packets up to %u per second and CPU, above that a share; "
			    "--sample 1: all", names, PACE_RATE);
	return meta->sample > 1 ? text("%s: 1 packet in %u", names, meta->sample) : NULL;
}
