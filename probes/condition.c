/* SPDX-License-Identifier: GPL-2.0 */
/* Conditions: comparisons of fields with values, joined by && and ||. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/util/log.h"
#include "probes/asking.h"

struct condition {
	struct asking *a;
	const char *where;	/* the option */
	const char *text, *at;
};

#define QUOTED	40		/* most characters of it in a message */

static int refuse(const struct condition *c, const char *from, const char *wanted)
{
	size_t before = from - c->text;

	if (!*from)
		return error_set(c->a->e, -EINVAL, NULL, "%s: %s is missing behind \"%s\"",
				 c->where, wanted, before > QUOTED ? from - QUOTED : c->text);
	return error_set(c->a->e, -EINVAL, NULL, "%s: \"%.*s\" is not %s", c->where, QUOTED, from,
			 wanted);
}

static void blanks(struct condition *c)
{
	while (isspace((unsigned char)*c->at))
		c->at++;
}

static bool take(struct condition *c, const char *what)
{
	blanks(c);
	if (strncmp(c->at, what, strlen(what)))
		return false;
	c->at += strlen(what);
	return true;
}

static bool joins(const char *at)
{
	return !strncmp(at, "&&", 2) || !strncmp(at, "||", 2);
}

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* "tcp_dport", "args[4]->tcp_dport" */
static int field_take(struct condition *c, const struct field **f)
{
	char word[WORD_SIZE];
	const char *from;

	blanks(c);
	from = c->at;
	while (in_name(*c->at))
		c->at++;
	if (c->at > from && *c->at == '[') {
		c->at += strcspn(c->at, "]");
		c->at += *c->at == ']';
		if (!strncmp(c->at, "->", 2))
			c->at += 2;
		while (in_name(*c->at))
			c->at++;
	}
	if (c->at == from)
		return refuse(c, from, "a field");
	snprintf(word, sizeof(word), "%.*s", (int)(c->at - from), from);
	*f = field_used(c->a, c->where, word);
	if (*f && field_is_stack(*f))
		return error_set(c->a->e, -EINVAL, text("--by %s", (*f)->name),
				 "%s: %s can only be a key, or be printed", c->where, (*f)->name);
	return *f ? 0 : -EINVAL;
}

/* Up to the quote or parenthesis that closes it. */
static int closed_take(struct condition *c, char end, char value[WORD_SIZE])
{
	const char *from = c->at++;
	size_t n = 0;

	for (; *c->at && *c->at != end && n < WORD_SIZE - 1; c->at++)
		if (end != ')' || !isspace((unsigned char)*c->at))
			value[n++] = *c->at;
	value[n] = 0;
	if (*c->at != end)
		return refuse(c, from, text("closed by %c", end));
	c->at++;
	return n ? 0 : refuse(c, from, "a value");
}

/* Does a value go on behind blanks? "SYN | ACK" */
static bool goes_on(const char *at, char last)
{
	while (isspace((unsigned char)*at))
		at++;
	return !joins(at) && (*at == '|' || last == '|');
}

static int value_take(struct condition *c, char value[WORD_SIZE])
{
	size_t n = 0;

	blanks(c);
	if (*c->at == '"' || *c->at == '\'')
		return closed_take(c, *c->at, value);
	if (*c->at == '(')
		return closed_take(c, ')', value);
	for (; *c->at && *c->at != ')' && !joins(c->at) && n < WORD_SIZE - 1; c->at++) {
		if (!isspace((unsigned char)*c->at))
			value[n++] = *c->at;
		else if (!goes_on(c->at, value[n - 1]))
			break;
	}
	value[n] = 0;
	return n ? 0 : refuse(c, c->at, "a value");
}

/* "send" for "tcp:::send", if only one of the probes is called so, as in D; false: several are. */
static bool probe_value(struct condition *c, const char *value, char name[WORD_SIZE])
{
	probe_set probes = c->a->q->probes;
	int found = -1;

	for (int p = 0; p < NR_STABLE_PROBES; p++) {
		if (!(probes >> p & 1) || strcmp(stable_probes[p].name, value))
			continue;
		if (found >= 0)
			return false;
		found = p;
	}
	snprintf(name, WORD_SIZE, "%s", found >= 0 ? probe_name(found) : value);
	return true;
}

static int value_parse(struct condition *c, const struct field *f, const char *value,
		       struct term *t)
{
	char probe[WORD_SIZE];
	struct error why = {};
	int err;

	if (f->format == FORMAT_PROBE && !probe_value(c, value, probe))
		return error_set(c->a->e, -EINVAL, NULL,
				 "%s: several of the probes are called so; give the provider, too",
				 c->where);
	err = field_parse(f, f->format == FORMAT_PROBE ? probe : value, t, &why);
	return err ? error_set(c->a->e, err, *why.try ? why.try : NULL, "%s: %s", c->where,
			       why.what) : 0;
}

static bool has_bits(const struct field *f)
{
	return f->format == FORMAT_DECIMAL || f->format == FORMAT_HEX || f->format == FORMAT_WORD ||
	       f->format == FORMAT_TCP_FLAGS;
}

/* A field alone is a comparison with 0. */
static int bare_term(struct condition *c, const struct field *f, struct term *t)
{
	if (!has_bits(f) && f->format != FORMAT_ERRNO)
		return error_set(c->a->e, -EINVAL, text("%s ==", f->name),
				 "%s: %s must be compared with a value", c->where, f->name);
	t->op = OP_NE;
	return value_parse(c, f, "0", t) ?: (t->op = OP_NE, 0);
}

static int mask_term(struct condition *c, const struct field *f, struct term *t)
{
	char value[WORD_SIZE];
	int err = value_take(c, value);

	if (!err && !has_bits(f))
		return error_set(c->a->e, -EINVAL, text("%s ==", f->name),
				 "%s: %s has no bits for &", c->where, f->name);
	err = err ?: value_parse(c, f, value, t);
	if (err)
		return err;
	t->op = OP_ANY;
	t->mask[0] = t->val[0];
	t->val[0] = 0;
	return t->mask[0] ? 0 : error_set(c->a->e, -EINVAL, NULL, "%s: %s & 0 is never true",
					  c->where, f->name);
}

static const struct {
	const char *text;
	enum term_op op, inverse;
} operators[] = {
	{ "==", OP_EQ, OP_NE }, { "!=", OP_NE, OP_EQ }, { "<=", OP_LE, OP_GT },
	{ ">=", OP_GE, OP_LT }, { "<", OP_LT, OP_GE }, { ">", OP_GT, OP_LE },
};
#define OPERATORS	(sizeof(operators) / sizeof(*operators))

static int compare_term(struct condition *c, const struct field *f, unsigned op, struct term *t)
{
	char value[WORD_SIZE];
	int err = value_take(c, value);

	if (!err && operators[op].op >= OP_LT && !field_is_number(f))
		return error_set(c->a->e, -EINVAL, text("%s == %s", f->name, value),
				 "%s: %s is no number, to be compared by %s", c->where, f->name,
				 operators[op].text);
	err = err ?: value_parse(c, f, value, t);
	t->op = operators[op].op;
	return err;
}

static bool take_in(struct condition *c)
{
	blanks(c);
	if (strncmp(c->at, "in", 2) || in_name(c->at[2]))
		return false;
	c->at += 2;
	return true;
}

static int in_term(struct condition *c, const struct field *f, struct term *t)
{
	char value[WORD_SIZE];
	int err = value_take(c, value);

	if (!err && f->format != FORMAT_ADDRESS)
		return error_set(c->a->e, -EINVAL, text("%s == %s", f->name, value),
				 "%s: %s is no address, which \"in\" is for", c->where, f->name);
	return err ?: value_parse(c, f, value, t);
}

static bool take_and(struct condition *c)
{
	blanks(c);
	return c->at[0] == '&' && c->at[1] != '&' && c->at++;
}

/* What follows a field. */
static int operator_term(struct condition *c, const struct field *f, struct term *t)
{
	for (unsigned op = 0; op < OPERATORS; op++)
		if (take(c, operators[op].text))
			return compare_term(c, f, op, t);
	if (take_and(c))
		return mask_term(c, f, t);
	if (take_in(c))
		return in_term(c, f, t);
	blanks(c);
	if (!*c->at || *c->at == ')' || joins(c->at))
		return bare_term(c, f, t);
	return refuse(c, c->at, "one of == != < <= > >= & in");
}

static void invert(struct term *t)
{
	if (t->op == OP_ANY)
		t->op = OP_NONE;
	for (unsigned op = 0; op < OPERATORS; op++)
		if (operators[op].op == t->op) {
			t->op = operators[op].inverse;
			return;
		}
}

/* [!]FIELD, FIELD OP VALUE, or [!](FIELD OP VALUE) */
static int term_take(struct condition *c, struct term *t)
{
	const struct field *f = NULL;
	bool not = take(c, "!"), within = take(c, "(");
	int err = field_take(c, &f);

	blanks(c);
	if (!err && not && !within && *c->at && *c->at != ')' && !joins(c->at))
		return error_set(c->a->e, -EINVAL, text("!(%s %s)", f->name, c->at),
				 "%s: ! stands before a field alone, or before parentheses",
				 c->where);
	err = err ?: operator_term(c, f, t);
	if (!err && not)
		invert(t);
	if (!err && within && !take(c, ")"))
		return refuse(c, c->at, "): parentheses hold a single comparison");
	return err;
}

int condition_asked(struct asking *a, const char *where, const char *condition)
{
	struct condition c = { .a = a, .where = where, .text = condition,
			       .at = condition };
	struct query *q = &a->q->query;
	int err;

	do {
		struct term *t = &q->term[q->nr_terms];

		if (q->nr_terms == QUERY_TERMS)
			return error_set(a->e, -E2BIG, NULL, "%s: more than %u comparisons", where,
					 QUERY_TERMS);
		err = term_take(&c, t);
		if (err)
			return err;
		q->nr_terms++;
		q->filter_need |= 1ull << t->group;
		t->ends = !take(&c, "&&");
	} while (!q->term[q->nr_terms - 1].ends || take(&c, "||"));
	return *c.at ? refuse(&c, c.at, "&& or ||") : 0;
}
