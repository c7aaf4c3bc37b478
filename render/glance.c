/* SPDX-License-Identifier: GPL-2.0 */
/* A summary of a meter: its sums in a line or two, without queues. */
#include <stdlib.h>
#include <string.h>

#include "lib/core/key.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"
#include "render/figures.h"
#include "render/glance.h"
#include "render/sampled.h"

#define NAME	2	/* column of the meter's name… */
#define POINT	14	/* …of the point… */
#define FIGURES	24	/* …and of the figures */
#define MOST	6	/* figures per line: those that a narrow table keeps longest */
#define KEYS	3	/* keys shown of a keyed meter, largest first */

/* State while printing the lines of a meter. */
struct lines {
	struct page *p;
	const struct snapshot *s;
	const struct meter *m;
	unsigned nr;
	char last[400];		/* the previous line: an equal one is not repeated */
};

static bool says_nothing(const char *cell)
{
	return !cell || !*cell || !strcmp(cell, "0") || !strcmp(cell, "-") || !strcmp(cell, "0 B");
}

/* The highest `drop` of a column such that at most MOST columns are kept. */
static unsigned keep_up_to(const struct grid *g, unsigned bars)
{
	for (unsigned drop = 0; ; drop++) {
		unsigned nr = 0;

		for (unsigned i = 0; i < g->nr; i++)
			nr += g->columns[i].drop <= drop + 1 && (i != bars || !bars) &&
			      !says_nothing(g->lines[0].cells[i]);
		if (nr > MOST || drop > 32)
			return drop;
	}
}

/* For percentiles and the like, and for members of a group, the name precedes the value. */
static bool name_first(const struct column *c)
{
	static const char *const names[] = { "mean", "max", "p50", "p90", "p99", "p99.9", NULL };
	unsigned i = 0;

	while (names[i] && strcmp(names[i], c->head))
		i++;
	return names[i] || *c->group;
}

/* Of "packets/s" how many letters the things of a cell have: "6 packets", "1 packet". */
static int things(const char *head, const char *cell)
{
	int len = strcspn(head, "/");
	bool one = *cell == '1' && (!cell[1] || cell[1] == ' ');

	return len - (one && len > 2 && head[len - 1] == 's' && head[len - 2] != 's');
}

/* "41.7k packets/s", "49.2 MB/s", "mean 1181 B", "completion p50 23 us" */
static void item(const struct column *c, const char *cell, const char **group, char *out,
		 size_t size)
{
	bool of_group = *c->group && strcmp(c->group, *group);
	const char *few = strstr(cell, " in ");		/* no rate: "3 in 2 s" */
	size_t len = strlen(out);

	snprintf(out + len, size - len, "%s%s%s", len ? of_group ? "; " : ", " : "",
		 of_group ? c->group : "", of_group ? " " : "");
	len = strlen(out);
	if (name_first(c))
		snprintf(out + len, size - len, "%s %s", c->head, cell);
	else if (!strncmp(c->head, "bytes", 5))		/* the value has its unit */
		snprintf(out + len, size - len, "%s%s", cell, few ? "" : c->head + 5);
	else if (few)
		snprintf(out + len, size - len, "%.*s %.*s%s", (int)(few - cell), cell,
			 things(c->head, cell), c->head, few);
	else
		snprintf(out + len, size - len, "%s %.*s%s", cell, things(c->head, cell), c->head,
			 strchr(c->head, '/') ?: "");
	*group = c->group;
}

void glance_words(const struct look *look, const struct snapshot *s, const struct meter *m,
		  const uint64_t *words, char *out, size_t size)
{
	struct figures f = { .s = s, .m = m, .look = look, .all = words, .room = ROOM_LITTLE,
			     .seconds = table_seconds(s, m) };
	const char *group = "";
	struct grid g = {};
	unsigned keep;

	*out = '\0';
	figures_columns(&f, &g, m);
	grid_line(&g);
	figures_fill(&f, &g, 0, words);
	keep = g.short_of_memory ? 0 : keep_up_to(&g, f.bars);
	for (unsigned i = 0; !g.short_of_memory && i < g.nr; i++)
		if (g.columns[i].drop <= keep && !says_nothing(g.lines[0].cells[i]) &&
		    !(f.bars && i == f.bars))
			item(&g.columns[i], g.lines[0].cells[i], &group, out, size);
	grid_free(&g);
	free(f.list);
}

static void sentence(const struct lines *l, const uint64_t *words, char *out, size_t size)
{
	glance_words(l->p->look, l->s, l->m, words, out, size);
}

static void line(struct lines *l, const char *of, const char *words)
{
	struct page *p = l->p;

	if (!*words || !strcmp(words, l->last))
		return;
	snprintf(l->last, sizeof(l->last), "%s", words);
	page_spaces(p, NAME);
	if (!l->nr++)
		page_styled(p, STYLE_BOLD, l->m->name);
	page_to(p, POINT);
	if (*of) {
		page_styled(p, STYLE_DIM, of);
		page_to(p, FIGURES);
	}
	page_wrap(p, *of ? FIGURES : POINT, words);
	page_newline(p);
}

struct busiest busiest_queue_of(const struct snapshot *s, const struct meter *m, unsigned from,
				unsigned to)
{
	const struct table *t = &s->tables[meter_id(m)];
	struct busiest b = { .queue = -1 };

	for (unsigned row = from; row < to; row++) {
		uint64_t n = 0;

		for (unsigned cpu = 0; cpu < t->cpus; cpu++)
			n += cell_idle(t, row, cpu) ? 0 : row_weight(m, row_words(t, row, cpu));
		if (n > b.most && place_of(s, m, row).queue >= 0)
			b = (struct busiest){ place_of(s, m, row).queue, n };
	}
	return b;
}

/* "; queue 2 has 77%", if one queue has far more than its share. */
static const char *busiest(const struct lines *l, unsigned from, unsigned to, uint64_t all,
			   unsigned queues)
{
	struct busiest b = busiest_queue_of(l->s, l->m, from, to);

	if (b.queue < 0 || queues < 2 || b.most * queues < all + all / 2 || b.most * 4 < all ||
	    b.most == all)
		return b.queue >= 0 && queues > 1 && b.most == all ?
		       text("; all of queue %d", b.queue) : "";
	return text("; queue %d has %.0f%%", b.queue, 100.0 * b.most / all);
}

/* Sums rows `from` to `to`: the queues of one point, or all rows. */
static void sum_line(struct lines *l, unsigned from, unsigned to, const char *of, unsigned queues)
{
	const struct table *t = &l->s->tables[meter_id(l->m)];
	uint64_t *sum = calloc(t->words, sizeof(*sum));
	char words[400];
	bool any = false;

	for (unsigned row = from; sum && row < to; row++)
		for (unsigned cpu = 0; cpu < t->cpus; cpu++)
			if (!row_idle(l->m, t, row, cpu)) {
				words_add(sum, row_words(t, row, cpu), t->words);
				any = true;
			}
	if (any) {
		sentence(l, sum, words, sizeof(words) - 40);
		if (l->m->by & BY_QUEUE && *words)
			strcat(words, busiest(l, from, to, row_weight(l->m, sum), queues));
		line(l, of, words);
	}
	free(sum);
}

/* "QDISC_DROP __dev_queue_xmit+0xd01", without the queue */
static void key_name(const struct meter *m, const void *key, char *out, size_t size)
{
	char part[120];

	*out = '\0';
	for (unsigned i = 0; m->key.labels[i]; i++) {
		size_t len = strlen(out);

		key_text(m, key, i, part, sizeof(part));
		if ((strcmp(m->key.labels[i], "queue") || !strcmp(part, "all")) &&
		    strcmp(part, "-"))
			snprintf(out + len, size - len, "%s%s", len ? " " : "", part);
	}
}

/* Sums over keys that differ only in their queue. */
struct sum_list {
	unsigned nr;
	struct sum {
		char name[200];
		uint64_t *words;
	} *list;
};

static void sums_free(struct sum_list *sums)
{
	for (unsigned i = 0; i < sums->nr; i++)
		free(sums->list[i].words);
	free(sums->list);
}

static void sums_add(struct sum_list *sums, const struct table *t, unsigned row, const char *name)
{
	struct sum *list;
	unsigned i = 0;

	while (i < sums->nr && strcmp(sums->list[i].name, name))
		i++;
	if (i == sums->nr) {
		list = grow(sums->list, i, sizeof(*list));
		if (!list)
			return;
		sums->list = list;
		list[i].words = calloc(t->words, sizeof(*list[i].words));
		if (!list[i].words)
			return;
		snprintf(list[i].name, sizeof(list[i].name), "%s", name);
		sums->nr++;
	}
	words_add(sums->list[i].words, row_words(t, row, 0), t->words);
}

/* The largest keys; if the meter is sorted by key, only rows for all queues. */
static void key_lines(struct lines *l)
{
	const struct table *t = &l->s->tables[meter_id(l->m)];
	unsigned most = l->m->key.sorted ? 2 * KEYS : KEYS;
	char words[400], name[200];
	struct sum_list sums = {};

	for (unsigned row = 0; row < t->rows; row++) {
		const void *key = key_of(l->m, t, row);

		if (row_idle(l->m, t, row, 0) || key_minor(l->m, key))
			continue;
		key_name(l->m, key, name, sizeof(name));
		if (!l->m->key.sorted || strstr(name, " all"))
			sums_add(&sums, t, row, name);
	}
	for (unsigned i = 0; i < sums.nr && i < most; i++) {
		sentence(l, sums.list[i].words, words, sizeof(words) / 2);
		if (*words)
			line(l, "", text("%s: %s", sums.list[i].name, words));
	}
	if (sums.nr > most)
		line(l, "", text("and %u more", sums.nr - most));
	sums_free(&sums);
}

bool glance(struct page *p, const struct snapshot *s, const struct meter *m)
{
	struct lines l = { .p = p, .s = s, .m = m };
	const struct table *t = &s->tables[meter_id(m)];
	unsigned rows = m->by & BY_QUEUE ? s->meta.rows : 1;

	if (m->layout == LAYOUT_ACROSS)		/* its sums are in the ledger */
		return true;
	if (m->by & BY_KEY)
		key_lines(&l);
	else if (!(m->by & BY_POINT))
		sum_line(&l, 0, t->rows, "", m->point <= RX_STACK ? s->meta.rx_queues :
			 s->meta.tx_queues);
	for (unsigned i = 0; m->by & BY_POINT && i < NR_POINTS; i++)
		if ((i + 1) * rows <= t->rows)
			sum_line(&l, i * rows, (i + 1) * rows, point_names[i],
				 i <= RX_STACK ? s->meta.rx_queues : s->meta.tx_queues);
	if (sampled_text(s, meter_id(m)) && (l.nr || thinned_of(s, meter_id(m)).passed))
		line(&l, "", text("%s%s", l.nr ? "of " : "", sampled_text(s, meter_id(m))));
	return l.nr;
}
