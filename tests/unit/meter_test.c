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
	}
	holds(meta_version() != META_VERSION, "the version follows from the layout");
	return failed > 0;
}
