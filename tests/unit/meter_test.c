/* SPDX-License-Identifier: GPL-2.0 */
/* The tables of the meters: a name for every word, each word in its row, no figure twice. */
#include "lib/core/meta.h"
#include "lib/core/meter.h"
#define SUBJECT "meter "
#include "check.h"

static bool labelled(const struct metric *k)
{
	for (unsigned i = 0; k->labels && i < k->words; i++)
		if (!k->labels[i] || !*k->labels[i])
			return false;
	return k->labels ? !!k->label : k->kind != KIND_COUNTER || k->words == 1;
}

static bool unique(const struct meter *m, const struct metric *one)
{
	for_each_metric(k, m)
		if (k != one && !strcmp(k->name, one->name) && !strcmp(k->unit, one->unit))
			return false;
	return true;
}

/* Does the version differ from that of a build in which this meter is so? */
static bool tells(int id, const struct meter *as)
{
	const struct meter *list[NR_METERS];

	memcpy(list, meters, sizeof(list));
	list[id] = as;
	return meta_version_of(list) != meta_version();
}

/* What a build of another version of this meter would read wrongly, or not at all. */
static void versions(int id)
{
	const struct meter *m = meters[id];
	struct metric other[128];
	struct meter as = *m;
	unsigned n = 0;

	must(!tells(id, m), m->name, "the version differs without a change");
	as.row_size += 8;
	must(tells(id, &as), m->name, "the version does not follow from the row");
	as = *m;
	as.key.size += 4;
	must(tells(id, &as), m->name, "the version does not follow from the key");
	for_each_metric(k, m)
		other[n++] = *k;
	other[n] = (struct metric){};
	other[n - 1].at++;
	as = *m;
	as.metrics = other;
	must(tells(id, &as), m->name, "the version does not follow from the figures");
	as = *m;
	if (m->type != EVENT_METER || !m->events.maps)
		return;
	for (; as.events.maps->name; as.events.maps++)		/* those behind it stay */
		must(as.events.maps == m->events.maps || tells(id, &as), m->name,
		     "the version does not follow from the maps");
}

int main(void)
{
	for (int id = 0; id < NR_METERS; id++) {
		const struct meter *m = meters[id];

		for_each_metric(k, m) {
			must(labelled(k), m->name, text("%s: a word has no name", k->name));
			must(unique(m, k), m->name, text("%s: twice", k->name));
			must(k->at + k->words <= m->row_size / 8, m->name,
			     text("%s: beyond the row", k->name));
		}
		must(m->metrics->name && !(m->row_size % 8), m->name, "no row of words");
		must(!(m->by & BY_KEY) || (m->key.size && *m->key.labels), m->name, "no key");
		holds(meter_find(m->name) == m, m->name);
		versions(id);
	}
	holds(meta_version() != META_VERSION, "the version follows from the layout");
	return failed > 0;
}
