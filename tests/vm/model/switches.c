/* SPDX-License-Identifier: GPL-2.0 */
/* Completions that come late, never or out of order, and buffers that are not there, as told. */
#include <stdlib.h>

#include "switches.h"

bool switch_at(uint32_t at, int size)
{
	return size == 4 && !(at % 4) && at >= SWITCHES_AT && at < SWITCHES_AT + SWITCHES * 4;
}

uint32_t switch_read(const struct switches *s, uint32_t at)
{
	return s->words[(at - SWITCHES_AT) / 4];
}

uint32_t model_switch(struct model *m, enum model_switch which)
{
	return model_switches(m)->words[which];
}

static void tell(struct model *m, struct completion *c)
{
	model_card(m)->complete(m, c->queue, c->what);
	model_card(m)->completed(m, c->queue);
	free(c);
}

/* Those that are due, in the order in which they were sent. */
static void tell_due(struct model *m)
{
	struct completion **at = &model_switches(m)->held, *c;
	int64_t now = model_now();

	while ((c = *at)) {
		if (c->due > now) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		tell(m, c);
	}
}

static void tell_reversed(struct model *m)
{
	struct switches *s = model_switches(m);
	struct completion *c;

	while ((c = s->reversed)) {
		s->reversed = c->next;
		tell(m, c);
	}
}

/* A card that completes in order does not pass by what it holds back. */
static int64_t due(struct model *m, unsigned queue, uint32_t hold, struct completion ***end)
{
	int64_t at = hold == HOLD_ON ? INT64_MAX : model_now() + hold * 1000LL;

	for (*end = &model_switches(m)->held; **end; *end = &(**end)->next)
		if (model_card(m)->in_order && (**end)->queue == queue && (**end)->due > at)
			at = (**end)->due;
	return at;
}

static struct completion *completion(unsigned queue, uint64_t a, uint64_t b)
{
	struct completion *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	*c = (struct completion){ .queue = queue, .what = { a, b } };
	return c;
}

static void reverse(struct switches *s, struct model *m, struct completion *c)
{
	c->next = s->reversed;
	s->reversed = c;
	s->words[DID_REVERSE]++;
	if (!--s->words[SWITCH_REVERSE])
		tell_reversed(m);
}

bool model_finish(struct model *m, unsigned queue, uint64_t a, uint64_t b)
{
	struct switches *s = model_switches(m);
	struct completion *c, **end;
	int64_t at;

	if (s->words[SWITCH_LOSE]) {
		s->words[SWITCH_LOSE]--;
		s->words[DID_LOSE]++;
		return false;
	}
	if (s->words[SWITCH_REVERSE]) {
		reverse(s, m, completion(queue, a, b));
		return false;
	}
	at = due(m, queue, s->words[SWITCH_HOLD], &end);
	if (at <= model_now()) {
		model_card(m)->complete(m, queue, (uint64_t []){ a, b });
		return true;
	}
	c = *end = completion(queue, a, b);
	c->due = at;
	s->words[DID_HOLD]++;
	if (at < INT64_MAX)
		model_later(m, at - model_now(), tell_due);
	return false;
}

static void forget(struct completion **list, int queue)
{
	struct completion *c;

	while ((c = *list)) {
		if (queue >= 0 && c->queue != (unsigned)queue) {
			list = &c->next;
			continue;
		}
		*list = c->next;
		free(c);
	}
}

void model_forget(struct model *m, int queue)
{
	forget(&model_switches(m)->held, queue);
	forget(&model_switches(m)->reversed, queue);
}

bool model_starved(struct model *m)
{
	uint32_t *words = model_switches(m)->words;

	if (!words[SWITCH_STARVE])
		return false;
	words[SWITCH_STARVE]--;
	words[DID_STARVE]++;
	return true;
}

/* What was held until this word changes is told now; what has a time keeps it. */
static void release(struct model *m)
{
	for (struct completion *c = model_switches(m)->held; c; c = c->next)
		if (c->due == INT64_MAX)
			c->due = model_now();
	tell_due(m);
}

void switch_write(struct model *m, uint32_t at, uint32_t value)
{
	enum model_switch which = (at - SWITCHES_AT) / 4;
	uint32_t *words = model_switches(m)->words;

	if (which >= DID_HOLD)
		return;
	if (which == SWITCH_REVERSE && model_card(m)->in_order)
		return;
	words[which] = value;
	if (which == SWITCH_HOLD)
		release(m);
	if (which == SWITCH_REVERSE && !value)
		tell_reversed(m);
}
