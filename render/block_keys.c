/* SPDX-License-Identifier: GPL-2.0 */
/* The rows of a keyed meter in its block: labels, notes, and what is folded into one line. */
#include <stdlib.h>
#include <string.h>

#include "lib/core/key.h"
#include "lib/util/log.h"
#include "render/block_rows.h"

#define MOST_KEYS 20	/* of a keyed meter, largest first; the others are one line */

/* All but the first may be dropped if they have a name, which the note on dropped columns needs. */
void keys_columns(struct block *b)
{
	for (unsigned i = 0; b->m->key.labels[i]; i++) {
		bool bare = b->m->layout == LAYOUT_BARE;
		struct column *c = block_label(b, bare ? "" : b->m->key.labels[i]);

		if (c)
			c->further = i && !bare;
	}
}

void keys_label(const struct block *b, const struct entry *e, unsigned nr, char *label, size_t size)
{
	char text[120];

	key_text(b->m, key_of(b->m, b->t, e->row), nr, text, sizeof(text));
	if (strcmp(b->m->key.labels[nr], "queue"))
		snprintf(label, size, "%s", text);
	else if (!strcmp(text, "all"))
		snprintf(label, size, "all");
	else
		snprintf(label, size, "q%s", *text >= '0' && *text <= '9' ? text : "?");
}

void keys_notes(struct block *b, const struct entry *e)
{
	const void *key = b->m->by & BY_KEY ? key_of(b->m, b->t, e->row) : NULL;
	char text[164] = "    ";

	if (!key || !b->m->key.note)
		return;
	for (unsigned i = 0; key_line(b->m, key, i, text + 4, sizeof(text) - 4); i++) {
		grid_line(&b->grid);
		grid_span(&b->grid, 0, text);
	}
}

/* Moves minor rows behind the others, keeping the order. Returns the number of the others. */
static unsigned fold(struct block *b)
{
	struct entry *minor = b->m->key.minor ? malloc(b->nr * sizeof(*minor)) : NULL;
	unsigned nr = 0, folded = 0;

	if (!minor)
		return b->nr;
	for (unsigned i = 0; i < b->nr; i++)
		if (key_minor(b->m, key_of(b->m, b->t, b->active[i].row)))
			minor[folded++] = b->active[i];
		else
			b->active[nr++] = b->active[i];
	memcpy(b->active + nr, minor, folded * sizeof(*minor));
	free(minor);
	return nr;
}

/* One line for all minor rows: their kind, the distinct first labels, their sum. */
static void folded_line(struct block *b, const struct entry *e, unsigned nr)
{
	char names[80] = "", name[128];
	size_t len = 0;

	block_sum(b, e, nr);
	for (unsigned i = 0; i < nr; i++) {
		keys_label(b, &e[i], 0, name, sizeof(name));
		if (!strstr(names, name) && len < sizeof(names))
			len += snprintf(names + len, sizeof(names) - len, "%s%s",
					len ? ", " : "", name);
	}
	grid_line(&b->grid);
	grid_cell(&b->grid, 0, b->m->key.minor);
	if (b->m->key.labels[1])
		grid_cell(&b->grid, 1, names);
	figures_fill(&b->figures, &b->grid, b->columns, b->total);
}

void keys_lines(struct block *b)
{
	unsigned nr = fold(b), most = b->m->key.sorted || nr < MOST_KEYS ? nr : MOST_KEYS;

	block_lines(b, b->m->point, b->active, most);
	if (most < nr) {
		grid_line(&b->grid);
		grid_span(&b->grid, 0, text("and %u smaller ones", nr - most));
	}
	if (nr < b->nr)
		folded_line(b, b->active + nr, b->nr - nr);
}
