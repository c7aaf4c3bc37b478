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
	const char *adapting = "", *fixed = "";

	for (int id = 0; id < NR_METERS; id++) {
		const struct meter *m = meters[id];
		bool adapts = meter_adapts(m, meta);

		if (!(meta->on >> id & 1) || !m->thins.take)
			continue;
		if (adapts)
			adapting = text("%s%s%s", adapting, *adapting ? ", " : "", m->name);
		else if (meter_sample(m, meta) > 1)
			fixed = text("%s%s%s: 1 packet in %u", fixed, *fixed ? "; " : "", m->name,
				     meter_sample(m, meta));
	}
	if (*adapting && meta->budget)
		adapting = text("%s: packets in %.4g%% of each CPU", adapting, meta->budget / 1e4);
	else if (*adapting)
		adapting = text("%s: all packets up to %u per second and CPU, above that a share; "
				"--sample 1: all", adapting, PACE_RATE);
	if (!*adapting && !*fixed)
		return NULL;
	return text("%s%s%s", adapting, *adapting && *fixed ? "; " : "", fixed);
}
