/* SPDX-License-Identifier: GPL-2.0 */
/* Meters that are made of what others counted; and residues, which are what is left between two. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/attach/pinned.h"
#include "lib/attach/pins.h"
#include "lib/core/hook.h"
#include "lib/read/baseline.h"
#include "lib/read/derived.h"
#include "lib/util/log.h"

/*
 * What was the least then may have been the most: what was uncertain of a moment is added. What
 * was so of all the time before is uncertain in the same way now: that is taken off.
 */
static void residue_since(uint64_t *now, const uint64_t *before, unsigned words)
{
	for (unsigned i = 0; i + RESIDUE_WORDS <= words; i += RESIDUE_WORDS) {
		uint64_t least = before[i], most = before[i + 1], ever = before[i + 2];

		now[i] -= most - ever;
		now[i + 1] -= least + ever;
		now[i + 2] += most - least - 2 * ever;
	}
}

void row_since(const struct meter *m, uint64_t *now, const uint64_t *before)
{
	/* a row that went and came back has less than before: all of it is new */
	if (m->key.evicts && *now < *before)
		return;
	/* it went on some CPU; on others it may be what it was: none of it is surely new */
	if (m->key.table && *now < *before) {
		memset(now, 0, m->row_size);
		return;
	}
	for_each_metric(k, m) {
		if (k->kind == KIND_RESIDUE)
			residue_since(now + k->at, before + k->at, k->words);
		else if (k->kind != KIND_LEVEL)
			for (unsigned i = k->at; i < k->at + k->words; i++)
				now[i] -= before[i];
	}
}

static uint64_t magnitude(int64_t x)
{
	return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

int64_t residue_of(const struct metric *k, const uint64_t *words, uint64_t *within)
{
	int64_t best = 0;

	*within = 0;
	for (unsigned i = 0; i + RESIDUE_WORDS <= k->words; i += RESIDUE_WORDS) {
		int64_t least = words[i], most = words[i + 1];
		int64_t is = least > 0 ? least : most < 0 ? most : 0;
		uint64_t off = is ? (uint64_t)most - least :
			       magnitude(magnitude(least) > magnitude(most) ? least : most);

		if (!least || !most)	/* it comes out even, and nothing has to be off for it */
			off = 0;

		if (i && (magnitude(is) > magnitude(best) ||
			  (is == best && off >= *within)))
			continue;
		best = is;
		*within = off;
	}
	return best;
}

const struct meter *derived_lacks(const struct meter *m, uint64_t on)
{
	for (int id = 0; id < NR_METERS; id++)
		if (meter_needs(m) >> id & 1 && !(on >> id & 1))
			return meters[id];
	return NULL;
}

/* Reads again, last, what counts all the time: what is compared with it was read in between. */
static int derive(const struct meter *m, struct snapshot *s, const char *pins, struct error *e)
{
	struct table *t = &s->tables[meter_id(m)];
	struct snapshot late;
	int err = 0;

	memset(&late, 0, offsetof(struct snapshot, findings));	/* which are not looked at */
	late.meta = s->meta;
	late.pins_are = s->pins_are;
	*t = (struct table){ .cpus = 1, .words = m->row_size / 8 };
	t->cells = calloc(1, m->row_size);	/* none is a table, too */
	t->keys = malloc(m->key.size);
	if (!t->cells || !t->keys)
		err = -ENOMEM;
	for (int id = 0; !err && id < NR_METERS; id++)
		if (m->derived.around >> id & s->meta.on >> id & 1)
			err = snapshot_table(&late, id, pins, e);
	err = err ?: m->derived.derive(s, &late, t);
	snapshot_free(&late);
	return err;
}

int derived_read(struct snapshot *s, const char *pins, struct error *e)
{
	int err = 0;

	for (int id = 0; id < NR_METERS && !err; id++) {
		const struct meter *m = meters[id];
		struct table *t = &s->tables[id];
		struct pinned_map began;
		uint64_t *then;

		if (m->type != DERIVED_METER || !(s->meta.on >> id & 1))
			continue;
		err = derive(m, s, pins, e);
		for (int of = 0; of < NR_METERS; of++)	/* what is read twice sets the time */
			if (m->derived.around >> of & 1)
				t->when = s->tables[of].when;
		began = pin_read(text("%s/%s", pins, m->name));
		then = malloc(m->row_size);
		for (unsigned row = 0; !err && began.fd >= 0 && then && row < t->rows; row++)
			if (!bpf_map_lookup_elem(began.fd, t->keys + row * m->key.size, then))
				row_since(m, t->cells + (size_t)row * t->words, then);
		pin_close(&began);
		free(then);
		if (!err)
			table_sort(m, t, NULL);
	}
	return err;
}

int derived_pin(const struct site *site, const struct meter *m, const struct meta *meta)
{
	struct snapshot s = { .meta = *meta };
	int err;

	s.meta.on &= m->derived.needs | m->derived.uses;
	err = snapshot_fill(&s, site->pins, site->error) ?:
	      derive(m, &s, site->pins, site->error) ?:
	      table_pin(site, m, &s.tables[meter_id(m)]);
	snapshot_free(&s);
	return err;
}
