/* SPDX-License-Identifier: GPL-2.0 */
/* A one-line summary of an attached interface, for nicprobe list. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/listed.h"
#include "findings/subjects.h"
#include "render/json_writer.h"
#include "render/shown.h"
#include "render/text.h"
#include "render/units.h"

void listed_take(struct listed *l)
{
	l->read = !snapshot_take(&l->s, l->dir, NULL);
}

void listed_window(struct listed *l)
{
	struct snapshot before = l->s;
	bool was = l->read;
	int err;

	l->s = (struct snapshot){};
	err = snapshot_take(&l->s, l->dir, NULL);
	l->read = !err && was && l->s.meta.since == l->meta.since;
	if (err == -ENOENT || err == -ENODATA)
		snprintf(l->state, sizeof(l->state), "it was detached meanwhile");
	if (!err && l->s.meta.since != l->meta.since) {
		snprintf(l->state, sizeof(l->state), "it was attached anew meanwhile");
		l->meta = l->s.meta;
	}
	if (l->read) {
		snapshot_diff(&l->s, &before);
		findings_judge(&l->s, NULL);
	}
	snapshot_free(&before);
}

/* Counts that nicprobe itself lost, and events that it missed. */
static uint64_t lost_of(const struct snapshot *s)
{
	uint64_t n = s->missed;

	for (int id = 0; id < NR_METERS; id++)
		n += s->lost[id];
	return n;
}

static unsigned found_of(const struct snapshot *s, enum severity severity)
{
	return findings_count(&s->findings, severity) -
	       (severity + 1 < NR_SEVERITIES ? findings_count(&s->findings, severity + 1) : 0);
}

static void item(char *line, size_t size, const char *what, uint64_t n, double seconds)
{
	char is[64];
	size_t len = strlen(line);

	units_rate(is, sizeof(is), n, n, "packets", seconds);
	snprintf(line + len, size - len, "%s%s %s%s", len ? ", " : "", what, is,
		 seconds > 0 && !strstr(is, " in ") ? "/s" : "");
}

static void found_text(const struct snapshot *s, char *line, size_t size)
{
	bool any = false;

	for (int i = NR_SEVERITIES; i--;) {
		size_t len = strlen(line);

		if (!found_of(s, i))
			continue;
		snprintf(line + len, size - len, "%s%u %s", any ? ", " : "; findings: ",
			 found_of(s, i), severity_names[i]);
		any = true;
	}
	if (!any && strlen(line) + 16 < size)
		strcat(line, "; no findings");
}

void listed_print(struct page *p, const struct listed *l)
{
	double seconds = l->s.interval ? table_seconds(&l->s, &meter_pktsize) : 0;
	char line[400] = "";
	uint64_t n;

	if (!l->read)
		return;
	if (packets_of(&l->s, RX_NIC, RX_STACK, &n))
		item(line, sizeof(line), "received", n, seconds);
	if (packets_of(&l->s, TX_NIC, TX_STACK, &n))
		item(line, sizeof(line), "sent", n, seconds);
	if (packets_dropped(&l->s, &n))
		item(line, sizeof(line), "dropped", n, seconds);
	n = lost_of(&l->s);
	if (n)
		item(line, sizeof(line), "counts lost", n, 0);
	if (l->s.interval)
		found_text(&l->s, line, sizeof(line));
	if (*line)
		page_remark(p, 2, *line == ';' ? line + 2 : line);
}

static void json_count(struct json *j, const char *key, bool known, uint64_t n)
{
	if (known)
		json_uint(j, key, n);
	else
		json_null(j, key);
}

void listed_json(struct json *j, const struct listed *l)
{
	uint64_t n;
	bool known;

	if (!l->read)
		return;
	if (l->s.interval)
		json_double(j, "window", table_seconds(&l->s, &meter_pktsize));
	known = packets_of(&l->s, RX_NIC, RX_STACK, &n);
	json_count(j, "received", known, n);
	known = packets_of(&l->s, TX_NIC, TX_STACK, &n);
	json_count(j, "sent", known, n);
	known = packets_dropped(&l->s, &n);
	json_count(j, "dropped", known, n);
	json_uint(j, "lost", lost_of(&l->s));
	if (!l->s.interval)
		return;
	json_open(j, "findings", '{');
	for (int i = NR_SEVERITIES; i--;)
		json_uint(j, severity_names[i], found_of(&l->s, i));
	json_close(j);
}
