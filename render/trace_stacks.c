/* SPDX-License-Identifier: GPL-2.0 */
/* Stacks of what `trace` has gathered: lines below a row, and arrays. */
#include <stdlib.h>
#include <string.h>

#include "lib/util/log.h"
#include "probes/stacks.h"
#include "render/json_writer.h"
#include "render/trace_stacks.h"

static void line(const char *function, void *arg)
{
	const struct page *page = arg;

	fputs("      ", page->out);
	text_harmless(page->out, function, page->look->utf8);
	fputc('\n', page->out);
}

void stack_print(struct page *page, const struct field *f, const void *from, bool there)
{
	fprintf(page->out, "    %s%s\n", f->name, there ? "" : " -");
	if (there)
		stack_each(f, from, line, page);
}

void stacks_print(struct page *page, const struct question *q, const struct query_key *k)
{
	for (unsigned i = 0; i < q->nr_keys; i++)
		if (field_is_stack(q->keys[i]))
			stack_print(page, q->keys[i], k->bytes + q->query.part[i].at,
				    !(k->absent >> i & 1));
}

static void element(const char *function, void *arg)
{
	json_string(arg, NULL, function);
}

void stack_json(struct json *j, const struct field *f, const void *from)
{
	json_open(j, f->name, '[');
	stack_each(f, from, element, j);
	json_close(j);
}

static void joined(const char *function, void *arg)
{
	FILE *f = arg;

	fprintf(f, "%s%s", ftell(f) ? ";" : "", function);
}

char *stack_joined(const struct field *f, const void *from)
{
	char *all = NULL;
	size_t size;
	FILE *out = open_memstream(&all, &size);

	if (!out)
		return NULL;
	stack_each(f, from, joined, out);
	fclose(out);
	return all;
}

void rows_with_stacks(struct page *page, const struct trace_result *r, const char *table)
{
	int row = 0, heads = -r->nr;

	for (const char *at = table; *at; at++)
		heads += *at == '\n';
	while (*table) {
		size_t len = strcspn(table, "\n");

		fprintf(page->out, "%.*s\n", (int)len, table);
		table += len + (table[len] == '\n');
		if (heads-- <= 0 && row < r->nr)
			stacks_print(page, r->question, &r->rows[row++].key);
	}
}
