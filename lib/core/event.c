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

static const struct event *event_find(const struct event *list, const char *program)
{
	size_t len = strcspn(program, "-");

	for (const struct event *e = list; e->program; e++)
		if (!strncmp(e->program, program, len) && !e->program[len])
			return e;
	return NULL;
}

struct users event_users(const char *program)
{
	const struct event *e = event_find(event_list, program);

	if (e)
		return e->users;
	for (int id = 0; id < NR_METERS; id++)
		if (meter_shares(meters[id]) && meter_owns(meters[id], program))
			return (struct users){ .meters = 1ull << id };
	return (struct users){};
}

bool event_at_tc(__u64 meters)
{
	for (const struct event *e = event_without_tc; e->program; e++)
		if (e->users.meters & meters)
			return true;
	return false;
}

bool event_wanted(const char *program, const struct users *users, const struct config *config)
{
	const struct event *if_polled = event_find(event_of_polls, program);
	const struct event *if_not_at_tc = event_find(event_without_tc, program);
	struct users by = event_users(program);

	if (if_polled && !config->polls)
		by.meters &= ~if_polled->users.meters;
	if (if_not_at_tc && config->buffers_at_tc)
		by.meters &= ~if_not_at_tc->users.meters;
	return by.meters & users->meters || by.points & users->points;
}
