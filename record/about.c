/* SPDX-License-Identifier: GPL-2.0 */
/* What a recording says of an interface besides its figures: names, queues, hooks, settings. */
#include <stdio.h>
#include <string.h>

#include "lib/util/log.h"
#include "record/about.h"

#define MOST_CPUS	8192

struct about_field {
	const char *name;
	unsigned at, size;	/* in a struct snapshot */
};
#define FIELD(m)	{ #m, offsetof(struct snapshot, m), sizeof(((struct snapshot *)0)->m) }

static const struct about_field numbers[] = {
	FIELD(meta.ifindex), FIELD(meta.host), FIELD(meta.netns), FIELD(meta.rx_queues),
	FIELD(meta.tx_queues), FIELD(meta.down), FIELD(meta.rows), FIELD(meta.cpus),
	FIELD(meta.cookie), FIELD(meta.inode), FIELD(meta.since), FIELD(meta.sample),
	FIELD(meta.adapts), FIELD(meta.budget), FIELD(meta.rx_ring), FIELD(meta.max_rx_ring),
	FIELD(meta.tx_usecs), FIELD(meta.tx_frames), FIELD(meta.rx_adaptive),
	FIELD(meta.tx_adaptive), FIELD(meta.cost_ns), FIELD(meta.cost_when),
	FIELD(meta.devices), FIELD(gone), FIELD(link.known), FIELD(link.up), FIELD(link.mbit),
	FIELD(online), FIELD(missed_hidden),
};
#define NR_NUMBERS	(sizeof(numbers) / sizeof(*numbers))

static const struct about_field texts[] = {
	FIELD(name), FIELD(state), FIELD(now), FIELD(meta.iface), FIELD(meta.driver),
};
#define NR_TEXTS	(sizeof(texts) / sizeof(*texts))

/* Texts that there is one of for each point or meter. */
static struct about_field text_of(unsigned i)
{
	static const struct about_field each[] = {
		FIELD(meta.hook[0]), FIELD(meta.note[0]), FIELD(blind[0]),
	};
	unsigned of = i - NR_TEXTS, nr = sizeof(each) / sizeof(*each);
	struct about_field f;

	if (i < NR_TEXTS)
		return texts[i];
	if (of < nr * NR_POINTS) {
		f = each[of % nr];
		f.name = text("%.*s.%s", (int)(strchr(f.name, '[') - f.name), f.name,
			      point_names[of / nr]);
		f.at += of / nr * f.size;
		return f;
	}
	of -= nr * NR_POINTS;
	f = (struct about_field)FIELD(meta.absent[0]);
	f.name = text("absent.%s", meters[of]->name);
	f.at += of * f.size;
	return f;
}
#define ALL_TEXTS	(NR_TEXTS + 3 * NR_POINTS + NR_METERS)

static uint64_t number_get(const struct snapshot *s, const struct about_field *f)
{
	const void *from = (const char *)s + f->at;

	return f->size == 1 ? *(const uint8_t *)from : f->size == 4 ? *(const uint32_t *)from :
	       *(const uint64_t *)from;
}

static void number_set(struct snapshot *s, const struct about_field *f, uint64_t x)
{
	void *to = (char *)s + f->at;

	if (f->size == 1)
		*(bool *)to = x;
	else if (f->size == 4)
		*(uint32_t *)to = x;
	else
		*(uint64_t *)to = x;
}

void about_put(struct bytes *b, const struct snapshot *s)
{
	unsigned nr = 0;

	bytes_uint(b, NR_NUMBERS);
	for (unsigned i = 0; i < NR_NUMBERS; i++) {
		bytes_text(b, numbers[i].name);
		bytes_uint(b, number_get(s, &numbers[i]));
	}
	for (unsigned i = 0; i < ALL_TEXTS; i++)
		nr += *((const char *)s + text_of(i).at) != 0;
	bytes_uint(b, nr);
	for (unsigned i = 0; i < ALL_TEXTS; i++) {
		struct about_field f = text_of(i);
		const char *said = (const char *)s + f.at;

		if (!*said)
			continue;
		bytes_text(b, f.name);
		bytes_text(b, said);
	}
	for (int id = 0; id < NR_METERS; id++)
		if (s->meta.on >> id & 1)
			bytes_text(b, meters[id]->name);
}

static void number_take(struct snapshot *s, struct reading_of *r)
{
	char name[64];
	uint64_t x;

	take_text(r, name, sizeof(name));
	x = take_uint(r);
	for (unsigned i = 0; i < NR_NUMBERS; i++)
		if (!strcmp(numbers[i].name, name))
			number_set(s, &numbers[i], x);
}

static void text_take(struct snapshot *s, struct reading_of *r)
{
	char name[64];

	take_text(r, name, sizeof(name));
	for (unsigned i = 0; i < ALL_TEXTS; i++) {
		struct about_field f = text_of(i);

		if (!strcmp(f.name, name)) {
			take_text(r, (char *)s + f.at, f.size);
			return;
		}
	}
	take_text(r, name, sizeof(name));	/* of another version */
}

bool about_take(struct snapshot *s, struct reading_of *r)
{
	const struct meta *m = &s->meta;
	unsigned nr = take_count(r);

	*s = (struct snapshot){};
	for (unsigned i = 0; i < nr && !r->bad; i++)
		number_take(s, r);
	nr = take_count(r);
	for (unsigned i = 0; i < nr && !r->bad; i++)
		text_take(s, r);
	while (r->at < r->end && !r->bad) {
		char name[32];

		take_text(r, name, sizeof(name));
		if (meter_find(name))
			s->meta.on |= 1ull << meter_id(meter_find(name));
	}
	s->meta.magic = META_MAGIC;
	s->wanted = s->meta.on;
	return !r->bad && m->rows && m->rows <= MAX_QUEUES + 1 && m->cpus && m->cpus <= MOST_CPUS &&
	       m->rx_queues < m->rows && m->tx_queues < m->rows && m->since && *m->driver;
}
