/* SPDX-License-Identifier: GPL-2.0 */
/* Fuzzes the language of trace: conditions, keys, aggregations, clauses of D, and values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/kernel/symbol.h"
#include "lib/trace/probes.h"
#include "lib/util/error.h"
#include "probes/question.h"
#include "world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void wrong(const char *what)
{
	fprintf(stderr, "mismatch: %s\n", what);
	abort();
}

/* No kernel is asked for the name of an address. */
void symbol_text(uint64_t address, char *name, size_t size)
{
	snprintf(name, size, "0x%lx", address);
}

/* All functions are where they are. */
uint64_t symbol_address(const char *name)
{
	return (uintptr_t)name;
}

/* Functions can be traced, so that their names are looked for among made-up ones. */
const char *probes_cannot(void)
{
	return NULL;
}

static bool in_event(unsigned offset, unsigned size)
{
	return offset + size <= sizeof(struct probe_event);
}

static void terms_check(const struct query *q)
{
	if (q->nr_terms > QUERY_TERMS || (q->nr_terms && !q->term[q->nr_terms - 1].ends))
		wrong("a condition that does not end");
	for (unsigned i = 0; i < q->nr_terms; i++) {
		const struct term *t = &q->term[i];

		if (!in_event(t->offset, t->size) || t->group >= NR_GROUPS || t->op > OP_NONE ||
		    !(q->filter_need >> t->group & 1))
			wrong("a term of no field");
		if (t->size == 16 && t->op != OP_EQ && t->op != OP_NE)
			wrong("an order of addresses");
		if ((t->val[0] & ~t->mask[0] || t->val[1] & ~t->mask[1]) && t->op < OP_ANY)
			wrong("a value outside of its mask");
	}
}

static void keys_check(const struct query *q)
{
	unsigned end = 0;

	for (unsigned i = 0; i < q->nr_parts; i++) {
		const struct part *p = &q->part[i];

		if (p->at < end || !in_event(p->offset, p->size) || !(q->need >> p->group & 1))
			wrong("keys that overlap, or of no field");
		end = p->at + p->size;
	}
	if (end > sizeof(struct query_key) - 8 || q->key_size < 8 + end || q->key_size % 8)
		wrong("the size of a key");
}

static void query_check(const struct question *question)
{
	const struct query *q = &question->query;

	terms_check(q);
	keys_check(q);
	if (!question->probes || question->probes & question->since || q->nr_on > ON_PARTS)
		wrong("no probes, or times of their own");
	if ((q->slots != 0) != (q->aggregation >= AGG_QUANTIZE) || q->slots > LQUANTIZE_MOST + 2)
		wrong("slots");
	if (q->aggregation > AGG_COUNT &&
	    (!question->measured || !(q->need >> q->measure.group & 1)))
		wrong("a measure of nothing");
	if ((q->aggregation == AGG_PRINT) != (question->nr_printed > 0) ||
	    question->nr_printed > PRINTED_MOST)
		wrong("nothing to print");
}

/* Every error has words; no error leaves none. */
static void answer_check(int err, const struct error *e, const struct question *q)
{
	if ((err < 0) != (*e->what != 0) || err > 0 || err != e->err)
		wrong("an error without words, or words without error");
	if (!err)
		query_check(q);
}

static void value(const char *text, unsigned which)
{
	const struct field *f = fields;
	struct error e = {};
	struct term t;
	char shown[96];

	while (f->name && which--)
		f++;
	if (!f->name)
		return;
	if (field_parse(f, text, &t, &e)) {
		if (!*e.what)
			wrong("a value that is refused without words");
		return;
	}
	field_text(f, t.val, shown, sizeof(shown));
	if (!*shown)
		wrong("a value that is not shown");
}

static void options(const char *const *word)
{
	struct posed asked = { .probes = *word[0] ? word[0] : "tcp:::send,ip:::receive,syscall:::",
			       .where = *word[1] ? word[1] : NULL,
			       .by = *word[2] ? word[2] : NULL };
	const char **of[] = { &asked.sum, &asked.min, &asked.max, &asked.avg, &asked.quantize,
			      &asked.lquantize, &asked.print };
	unsigned times = world_number(1) % 3, action = world_number(1) % 8;
	struct question q;
	struct error e = {};

	if (action < 7)
		*of[action] = word[3];
	else
		asked.count = true;
	asked.delta = times == 1 ? word[4] : NULL;
	asked.since = times == 2 ? word[4] : NULL;
	asked.on = times == 2 ? word[5] : NULL;
	answer_check(question_ask(&q, &asked, &e), &e, &q);
}

#define WORDS	6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *word[WORDS], *clause;
	struct question q;
	struct error e = {};
	size_t nr;

	machine_begin();
	world_begin(data, size, true);
	for (unsigned i = 0; i < WORDS; i++)
		word[i] = world_take(world_number(1), &nr);
	options((const char *const *)word);
	value(word[3], world_number(1));
	for (unsigned i = 0; i < WORDS; i++)
		free(word[i]);
	clause = world_take(size, &nr);
	answer_check(question_ask_d(&q, clause, &e), &e, &q);
	free(clause);
	return 0;
}
