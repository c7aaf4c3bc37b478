/* SPDX-License-Identifier: GPL-2.0 */
/* Who wants which program of the shared object. */
#include <string.h>

#include "lib/core/event.h"
#include "lib/core/meter.h"

bool meter_shares(const struct meter *m)
{
	return m->type == EVENT_METER && !m->events.elf;
}

/* Is it `owner`, or does it begin with that and a "_" or "-"? */
static bool begins(const char *name, const char *owner)
{
	size_t len = strlen(owner);

	return !strncmp(name, owner, len) && (!name[len] || strchr("_-", name[len]));
}

bool meter_owns(const struct meter *m, const char *name)
{
	return begins(name, m->name) ||
	       (m->type == EVENT_METER && m->events.prefix && begins(name, m->events.prefix));
}

/* Is this the program, or a pin of it: "PROGRAM-SET"? */
static bool is_program(const char *name, const char *program)
{
	size_t len = strcspn(name, "-");

	return !strncmp(program, name, len) && !program[len];
}

struct users event_users(const char *program)
{
	for (const struct event *e = event_list; e->program; e++)
		if (is_program(program, e->program))
			return e->users;
	for (int id = 0; id < NR_METERS; id++)
		if (meter_shares(meters[id]) && meter_owns(meters[id], program))
			return (struct users){ .meters = 1ull << id };
	return (struct users){};
}

static bool word_is_set(const struct config *config, unsigned word)
{
	return *(const __u32 *)((const char *)config + word);
}

struct users event_users_of(const char *program, const struct config *config)
{
	struct users by = event_users(program);

	for (const struct event_condition *e = event_conditions; e->program; e++)
		if (is_program(program, e->program) && word_is_set(config, e->word) != e->is) {
			by.meters &= ~e->users.meters;
			by.points &= ~e->users.points;
		}
	return by;
}

bool event_wanted(const char *program, const struct users *users, const struct config *config)
{
	struct users by = event_users_of(program, config);

	return by.meters & users->meters || by.points & users->points;
}

bool event_at_tc(__u64 meters)
{
	for (const struct event_condition *e = event_conditions; e->program; e++)
		if (e->word == offsetof(struct config, buffers_at_tc) && e->users.meters & meters)
			return true;
	return false;
}
