/* SPDX-License-Identifier: GPL-2.0 */
/* One clause of D, as options would say it. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/util/list.h"
#include "lib/util/log.h"
#include "probes/asking.h"

#define PIECE	1024	/* most bytes of the probes, the condition, or the keys */
#define SHAPE	"@[execname] = count();"

struct clause {
	struct asking *a;
	const char *at;
	char probes[PIECE], condition[PIECE], keys[PIECE], of[PIECE];
};

static void blanks(struct clause *c)
{
	while (isspace((unsigned char)*c->at))
		c->at++;
}

/* The word at which it stops: a name, or a single sign. */
static int refuse(const struct clause *c, const char *wanted)
{
	size_t len = 0;

	while (isalnum((unsigned char)c->at[len]) || c->at[len] == '_')
		len++;
	if (!*c->at)
		return error_set(c->a->e, -EINVAL, SHAPE,
				 "the clause of D ends, where %s should be", wanted);
	return error_set(c->a->e, -EINVAL, SHAPE,
			 "the clause of D stops at \"%.*s\", where %s should be",
			 len ? (int)len : 1, c->at, wanted);
}

static int take(struct clause *c, char sign)
{
	blanks(c);
	if (*c->at != sign)
		return refuse(c, text("%c", sign));
	c->at++;
	return 0;
}

/* Up to one of `ends` that is not between quotes, nor in nested `open`; blanks around it go. */
static int piece_take(struct clause *c, const char *ends, char open, char to[PIECE])
{
	const char *from, *last;
	unsigned depth = 0;
	char quote = 0;

	blanks(c);
	for (from = c->at; *c->at; c->at++) {
		if (quote) {
			quote = *c->at == quote ? 0 : quote;
			continue;
		}
		if (!depth && strchr(ends, *c->at))
			break;
		if (*c->at == '"')
			quote = '"';
		else if (open && *c->at == open)
			depth++;
		else if (depth && strchr(ends, *c->at))
			depth--;
	}
	for (last = c->at; last > from && isspace((unsigned char)last[-1]);)
		last--;
	if (last - from >= PIECE)
		return error_set(c->a->e, -E2BIG, NULL, "the clause of D is too long");
	snprintf(to, PIECE, "%.*s", (int)(last - from), from);
	return 0;
}

/* /CONDITION/, which may be left out */
static int condition_take(struct clause *c)
{
	int err;

	if (*c->at != '/')
		return 0;
	c->at++;
	err = piece_take(c, "/", 0, c->condition);
	return err ?: take(c, '/');
}

static const struct {
	const char *name;
	size_t offset;		/* of the option in struct posed */
} functions[] = {
	{ "sum", offsetof(struct posed, sum) }, { "min", offsetof(struct posed, min) },
	{ "max", offsetof(struct posed, max) }, { "avg", offsetof(struct posed, avg) },
	{ "quantize", offsetof(struct posed, quantize) },
	{ "lquantize", offsetof(struct posed, lquantize) },
};

/* "args[2]->ip_plength, 0, 1500, 100" as "args[2]->ip_plength:0:1500:100" */
static void commas_to_colons(char *list)
{
	char *to = list;

	for (; *list; list++)
		if (!isspace((unsigned char)*list))
			*to++ = *list == ',' ? ':' : *list;
	*to = 0;
}

/* count(), sum(FIELD) and so on */
static int aggregation_take(struct clause *c, struct posed *asked)
{
	const char *function;
	size_t len = 0;
	int err;

	blanks(c);
	function = c->at;
	while (isalnum((unsigned char)function[len]) || function[len] == '_')
		len++;
	for (unsigned i = 0; i < NR_OF(functions); i++)
		if (strlen(functions[i].name) == len &&
		    !strncmp(function, functions[i].name, len)) {
			c->at += len;
			err = take(c, '(') ?: piece_take(c, ")", '(', c->of) ?: take(c, ')');
			if (functions[i].offset == offsetof(struct posed, lquantize))
				commas_to_colons(c->of);
			*(const char **)((char *)asked + functions[i].offset) = c->of;
			return err;
		}
	if (len != strlen("count") || strncmp(function, "count", len))
		return refuse(c, "count, sum, min, max, avg, quantize or lquantize");
	c->at += len;
	asked->count = true;
	return take(c, '(') ?: take(c, ')');
}

/* @name[KEYS] = */
static int aggregate_take(struct clause *c, struct posed *asked)
{
	int err = take(c, '@');

	while (!err && (isalnum((unsigned char)*c->at) || *c->at == '_'))
		c->at++;
	blanks(c);
	if (!err && *c->at == '[') {
		c->at++;
		err = piece_take(c, "]", '[', c->keys) ?: take(c, ']');
		asked->by = c->keys;
	}
	return err ?: take(c, '=');
}

static int clause_take(struct clause *c, struct posed *asked)
{
	int err = piece_take(c, "/{", 0, c->probes) ?: condition_take(c) ?: take(c, '{');

	asked->probes = c->probes;
	asked->where = *c->condition ? c->condition : NULL;
	err = err ?: aggregate_take(c, asked) ?: aggregation_take(c, asked);
	if (err)
		return err;
	blanks(c);
	if (*c->at == ';')
		c->at++;
	err = take(c, '}');
	blanks(c);
	return err ?: *c->at ? refuse(c, "the end") : 0;
}

int question_ask_d(struct question *q, const char *clause, struct error *e)
{
	struct asking a = { .q = q, .d = true, .e = e };
	struct clause c = { .a = &a, .at = clause };
	struct posed asked = {};
	int err = clause_take(&c, &asked);

	*q = (struct question){};
	return err ?: question_fill(&a, &asked);
}
