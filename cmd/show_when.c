/* SPDX-License-Identifier: GPL-2.0 */
/* Times in a recording, as a user types them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/show_when.h"
#include "lib/util/amount.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "render/json_writer.h"
#include "render/text.h"

bool show_from_lacks(const struct view *v)
{
	const char *what = v->from.at_text ? "--at" : *v->from.between_text ? "--between" :
			   v->from.events ? "--events" : NULL;

	if (what)
		usage_error(text("nicprobe show --from FILE %s …", what),
			    "%s is of a recording: it goes with --from", what);
	return what;
}

const char *show_when_text(uint64_t ns)
{
	time_t seconds = ns / 1000000000;
	struct tm tm;
	char at[32];

	strftime(at, sizeof(at), "%F %T", localtime_r(&seconds, &tm));
	return text("%s", at);
}

/* The end of the recording: what times without a date, and those before it, are counted from. */
static uint64_t last_of(const struct recording *r)
{
	uint64_t last = 0;

	for (unsigned i = 0; i < recording_ifaces(r); i++) {
		uint64_t when = recording_when(r, i, recording_frames(r, i) - 1);

		last = when > last ? when : last;
	}
	return last;
}

/* "2026-11-25 03:12:05", with T for the blank, without seconds, or with Z: of UTC. */
static bool date_parse(const char *word, uint64_t *ns)
{
	static const char *const forms[] = {
		"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
		"%Y-%m-%d",
	};

	for (unsigned i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct tm tm = { .tm_isdst = -1 };
		const char *end = strptime(word, forms[i], &tm);
		bool utc = end && !strcmp(end, "Z");

		if (!end || (*end && !utc))
			continue;
		*ns = (uint64_t)(utc ? timegm(&tm) : mktime(&tm)) * 1000000000;
		return true;
	}
	return false;
}

/* The latest time: not that of the end, if the clock was set back. */
static uint64_t latest_of(const struct recording *r)
{
	uint64_t latest = 0;

	for (unsigned i = 0; i < recording_ifaces(r); i++)
		for (unsigned f = 0; f < recording_frames(r, i); f++)
			if (recording_when(r, i, f) > latest)
				latest = recording_when(r, i, f);
	return latest;
}

/* "03:12:05" of the last day of the recording that had it. */
static bool clock_parse(const char *word, uint64_t last, uint64_t *ns)
{
	time_t seconds = last / 1000000000, when;
	struct tm tm, now;
	const char *end;

	localtime_r(&seconds, &now);
	tm = now;
	end = strptime(word, "%H:%M:%S", &tm);
	if (!end || *end) {
		tm = now;
		end = strptime(word, "%H:%M", &tm);
		tm.tm_sec = 0;
	}
	if (!end || *end)
		return false;
	tm.tm_isdst = -1;
	when = mktime(&tm);
	if (when > seconds + 1) {
		tm.tm_mday--;
		tm.tm_isdst = -1;
		when = mktime(&tm);
	}
	*ns = (uint64_t)when * 1000000000;
	return true;
}

static bool moment_parse(const char *word, const struct recording *r, uint64_t *ns)
{
	uint64_t last = last_of(r);
	double seconds;
	char *end;

	if (*word == '@') {
		seconds = strtod(word + 1, &end);
		*ns = seconds * 1e9;
		return end > word + 1 && !*end && seconds > 0 && seconds < 1e10;
	}
	if (*word == '-' && time_parse(word + 1, &seconds)) {
		*ns = last > seconds * 1e9 ? last - (uint64_t)(seconds * 1e9) : 1;
		return true;
	}
	return date_parse(word, ns) || clock_parse(word, latest_of(r), ns);
}

int show_when(const char *word, const struct recording *r, uint64_t *ns, struct error *e)
{
	if (moment_parse(word, r, ns))
		return 0;
	return error_set(e, -EINVAL, text("--at %s", strchr(show_when_text(last_of(r)), ' ') + 1),
			 "\"%s\" is no time: it is like 03:12:05, 2026-11-25T03:12, @1795168800 "
			 "or -10m", word);
}

int show_times(struct view *v, const struct recording *r)
{
	const struct { const char *word; uint64_t *to; } list[] = {
		{ v->from.at_text, &v->from.at },
		{ v->from.between_text[0], &v->from.begin },
		{ v->from.between_text[1], &v->from.end },
	};
	int err = 0;

	for (unsigned i = 0; i < 3 && !err; i++)
		err = list[i].word ? show_when(list[i].word, r, list[i].to, v->error) : 0;
	return err;
}

void show_event(const struct view *v, const struct recorded_event *e)
{
	struct timespec when = { e->when / 1000000000, e->when % 1000000000 };

	if (v->format == &renderer_json) {
		struct json j = { .out = stdout };

		json_open(&j, NULL, '{');
		json_time(&j, "time", &when);
		json_string_or_null(&j, "interface", e->iface);
		json_string(&j, "event", e->kind);
		json_string(&j, "what", e->what);
		json_close(&j);
		putchar('\n');
		return;
	}
	printf("%s  ", show_when_text(e->when));
	text_harmless(stdout, text("%s%s%s: %s", e->iface, *e->iface ? "  " : "", e->kind, e->what),
		      v->look.utf8);
	putchar('\n');
}
