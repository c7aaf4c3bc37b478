/* SPDX-License-Identifier: GPL-2.0 */
/* What charts are called, by the tables of their meters. */
#include <string.h>

#include "report/course.h"

void name_words(const char *name, char *to, size_t size)
{
	snprintf(to, size, "%s", name);
	for (char *c = to; *c; c++)
		if (*c == '_')
			*c = ' ';
}

/* What the main count of a metric counts: "packets" of packet_size, "polls". */
void name_counted(const struct metric *k, char *to, size_t size)
{
	const char *end = strstr(k->name, "_size");

	if (k->kind != KIND_HISTOGRAM)
		snprintf(to, size, "%s", k->unit);
	else if (end && !strcmp(end, "_size"))
		snprintf(to, size, "%.*ss", (int)(end - k->name), k->name);
	else
		snprintf(to, size, "samples");
}

/* "queue", "queue and CPU", "reason and function" */
static void by_what(const struct meter *m, char *to, size_t size)
{
	size_t at = 0;

	*to = '\0';
	if (!(m->by & BY_KEY)) {
		snprintf(to, size, "%s%s%s", m->by & BY_QUEUE ? "queue" : "", m->by & BY_QUEUE &&
			 m->by & BY_CPU ? " and " : "", m->by & BY_CPU ? "CPU" : "");
		return;
	}
	for (unsigned i = 0; m->key.labels[i] && at < size; i++)
		at += snprintf(to + at, size - at, "%s%s", !i ? "" : m->key.labels[i + 1] ? ", " :
			       " and ", m->key.labels[i]);
}

void name_chart(struct chart *h, const struct metric *k)
{
	const struct meter *m = meters[h->meter];
	char name[48], by[96], what[48];
	bool sized = k && k->kind == KIND_HISTOGRAM && strstr(k->name, "_size");
	size_t at;

	name_words(k ? k->name : "", name, sizeof(name));
	by_what(m, by, sizeof(by));
	at = h->point < 0 ? 0 : snprintf(h->title, sizeof(h->title), "%s: ",
					 point_names[h->point]);
	if (k)
		name_counted(k, what, sizeof(what));
	switch (h->of) {
	case OF_ROWS:
		snprintf(h->title + at, sizeof(h->title) - at, "%.40s%s%s%.70s", h->own_unit ?
			 h->unit : sized ? what : name, k->kind == KIND_HISTOGRAM && !sized ?
			 ", samples" : "", *by ? " by " : "", by);
		break;
	case OF_LATENCY:
		snprintf(h->title + at, sizeof(h->title) - at, "p99 of %.40s%s%.70s", name,
			 *by ? " by " : "", by);
		break;
	case OF_PERCENTILES:
		snprintf(h->title + at, sizeof(h->title) - at, "%.40s, percentiles", name);
		break;
	case OF_CLASSES:
		snprintf(h->title + at, sizeof(h->title) - at, "%.40s by size, in %.30s", what,
			 k->unit);
		break;
	case OF_LABELS:
		snprintf(h->title + at, sizeof(h->title) - at, strcmp(k->label, "by") ?
			 "%.40s by %.40s" : "%.40s, %.40s what", name, k->label);
		break;
	case OF_COUNTERS:
		snprintf(h->title + at, sizeof(h->title) - at, "further counts, in %.40s",
			 h->unit);
		break;
	case OF_LEVELS:
		snprintf(h->title + at, sizeof(h->title) - at, "levels, in %.40s", h->unit);
		break;
	}
}
