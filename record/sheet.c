/* SPDX-License-Identifier: GPL-2.0 */
/* The numbers of one meter from frame to frame: only what changed is in the file. */
#include <stdlib.h>
#include <string.h>

#include "record/sheet.h"

#define PART		4	/* words */
#define KEY_LINES	40	/* at most, of one key */

void sheet_forget(struct sheet *s)
{
	for (unsigned i = 0; s->said && i < s->rows; i++)
		free(s->said[i]);
	free(s->said);
	free(s->cells);
	free(s->used);
	free(s->keys);
	free(s->slots);
	*s = (struct sheet){};
}

bool sheet_shape(struct sheet *s, unsigned rows, unsigned cpus, unsigned words)
{
	uint64_t cells = (uint64_t)rows * cpus;

	sheet_forget(s);
	if (!words || !cpus || cells > MOST_CELLS || cells * words > MOST_CELLS)
		return false;
	*s = (struct sheet){
		.cells = calloc(cells * words + 1, sizeof(*s->cells)),
		.used = calloc(rows + 1, sizeof(*s->used)),
		.rows = rows, .cpus = cpus, .words = words,
	};
	return s->cells && s->used;
}

/* FNV-1a */
static unsigned hash(const unsigned char *key, unsigned size)
{
	unsigned h = 2166136261;

	for (unsigned i = 0; i < size; i++)
		h = (h ^ key[i]) * 16777619;
	return h ^ h >> 15;
}

/* The slot of a key, or the free one where it would be. */
static unsigned *slot_of(const struct sheet *s, const void *key)
{
	unsigned at = hash(key, s->key_size);

	for (;; at++) {
		unsigned *slot = &s->slots[at & (s->nr_slots - 1)];

		if (!*slot || !memcmp(s->keys + (size_t)(*slot - 1) * s->key_size, key,
				      s->key_size))
			return slot;
	}
}

int sheet_row(const struct sheet *s, const void *key)
{
	return s->nr_slots ? (int)*slot_of(s, key) - 1 : -1;
}

/* Room for twice as many rows; the cells of a keyed sheet have one CPU. */
static bool sheet_grow(struct sheet *s)
{
	unsigned room = s->rows ? 2 * s->rows : 16;
	void *cells, *keys, *said;

	if ((uint64_t)room * s->words > MOST_CELLS)
		return false;
	cells = realloc(s->cells, ((size_t)room * s->words + 1) * sizeof(*s->cells));
	s->cells = cells ?: s->cells;
	keys = realloc(s->keys, (size_t)room * s->key_size);
	s->keys = keys ?: s->keys;
	said = realloc(s->said, room * sizeof(*s->said));
	s->said = said ?: s->said;
	free(s->slots);
	s->slots = calloc(4 * (size_t)room, sizeof(*s->slots));
	s->nr_slots = s->slots ? 4 * room : 0;
	for (unsigned row = 0; keys && s->slots && row < s->rows; row++)
		*slot_of(s, s->keys + (size_t)row * s->key_size) = row + 1;
	return cells && keys && said && s->slots;
}

int sheet_row_add(struct sheet *s, const void *key)
{
	unsigned row = s->rows;

	if ((!row || (row >= 16 && !(row & (row - 1)))) && !sheet_grow(s))
		return -1;
	memcpy(s->keys + (size_t)row * s->key_size, key, s->key_size);
	memset(s->cells + (size_t)row * s->words, 0, s->words * sizeof(*s->cells));
	s->said[row] = NULL;
	*slot_of(s, key) = row + 1;
	s->rows++;
	return row;
}

/* Most words of a row do not change from frame to frame: they are compared in parts. */
static bool same(const uint64_t *a, const uint64_t *b)
{
	return !((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]));
}

void growth_words(struct sheet_growth *g, struct sheet *s, size_t from, const uint64_t *now,
		  unsigned words)
{
	uint64_t *last = s->cells + from;

	for (unsigned i = 0; i < words; i++) {
		while (i + PART <= words && same(now + i, last + i))
			i += PART;
		if (i == words || now[i] == last[i])
			continue;
		bytes_uint(&g->gaps, from + i - g->next);
		bytes_int(&g->sizes, now[i] - last[i]);
		g->next = from + i + 1;
		g->nr++;
		last[i] = now[i];
	}
}

void growth_row(struct sheet_growth *g, struct sheet *s, unsigned row, unsigned cpu,
		const uint64_t *now)
{
	growth_words(g, s, ((size_t)row * s->cpus + cpu) * s->words, now, s->words);
}

void growth_put(struct bytes *b, struct sheet_growth *g)
{
	bytes_uint(b, g->nr);
	bytes_add(b, g->gaps.bytes, g->gaps.nr);
	bytes_add(b, g->sizes.bytes, g->sizes.nr);
	b->failed |= g->gaps.failed || g->sizes.failed;
	bytes_free(&g->gaps);
	bytes_free(&g->sizes);
}

bool growth_take(struct sheet *s, struct reading_of *r)
{
	size_t cells = (size_t)s->rows * s->cpus * s->words, at = 0;
	unsigned nr = take_count(r);
	struct reading_of sizes = *r;

	for (unsigned i = 0; i < nr; i++)
		take_uint(&sizes);
	for (unsigned i = 0; i < nr && !r->bad; i++) {
		uint64_t gap = take_uint(r);

		if (sizes.bad || gap >= cells - at) {
			r->bad = true;
			break;
		}
		at += gap;
		s->cells[at++] += take_int(&sizes);
	}
	r->at = sizes.at;
	r->bad |= sizes.bad;
	return !r->bad;
}

void key_words_put(struct bytes *b, const struct meter *m, const void *key)
{
	const char *unit = key_unit_of(m, key);
	char text[KEY_TEXT];
	unsigned nr = 0;

	while (m->key.labels && m->key.labels[nr])
		nr++;
	bytes_uint(b, nr);
	for (unsigned i = 0; i < nr; i++) {
		*text = '\0';
		key_text(m, key, i, text, sizeof(text));
		bytes_text(b, text);
	}
	bytes_text(b, unit ?: "");
	bytes_uint(b, key_minor(m, key));
	nr = 0;
	while (nr < KEY_LINES && key_line(m, key, nr, text, sizeof(text)))
		nr++;
	bytes_uint(b, nr);
	for (unsigned i = 0; i < nr; i++) {
		key_line(m, key, i, text, sizeof(text));
		bytes_text(b, text);
	}
}

/* Where texts go: nowhere while their room is counted, then one after the other. */
struct words_to {
	const char **list;	/* NULL: they are counted */
	char *text;
	size_t size;
	unsigned nr;
};

static void word_take(struct words_to *to, struct reading_of *r)
{
	size_t len;
	const char *words = take_words(r, &len);

	if (to->list) {
		to->list[to->nr] = memcpy(to->text, words, len);
		to->text[len] = '\0';
		to->text += len + 1;
	}
	to->size += len + 1;
	to->nr++;
}

static void words_take(struct words_to *to, struct reading_of *r, struct key_words *w)
{
	w->nr_labels = take_count(r);
	for (unsigned i = 0; i < w->nr_labels && !r->bad; i++)
		word_take(to, r);
	word_take(to, r);
	w->minor = take_uint(r);
	w->nr_lines = take_count(r);
	for (unsigned i = 0; i < w->nr_lines && !r->bad; i++)
		word_take(to, r);
}

/* One allocation: the struct, the pointers, the texts. */
struct key_words *key_words_take(struct reading_of *r)
{
	struct reading_of again = *r;
	struct words_to to = {};
	struct key_words w, *kept;

	words_take(&to, r, &w);
	kept = r->bad ? NULL : malloc(sizeof(*kept) + to.nr * sizeof(*to.list) + to.size);
	if (!kept)
		return NULL;
	to.list = (void *)(kept + 1);
	to.text = (char *)(to.list + to.nr);
	to.nr = 0;
	words_take(&to, &again, kept);
	kept->labels = to.list;
	kept->lines = to.list + kept->nr_labels + 1;
	kept->unit = *to.list[kept->nr_labels] ? to.list[kept->nr_labels] : NULL;
	return kept;
}
