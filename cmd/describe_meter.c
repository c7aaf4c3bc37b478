/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe list -v METER: one meter as a page of reference. */
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/describe.h"
#include "lib/util/log.h"
#include "render/json_writer.h"
#include "render/text.h"

#define SAID	16	/* column of the text… */
#define KINDS	28	/* …and of a metric's kind */

/* "needs       txlat"; no line if there is no text. */
static void say(struct page *page, const char *what, const char *words)
{
	if (words && *words)
		page_line(page, 2, what, SAID, words);
}

static const char *meter_names(__u64 set)
{
	const char *names = "";

	for (int id = 0; id < NR_METERS; id++)
		if (set >> id & 1)
			names = text("%s%s%s", names, *names ? ", " : "", meters[id]->name);
	return names;
}

/* The points that it counts at; "": it does not count by point. */
static const char *point_list(const struct meter *m)
{
	const char *names = "";

	for (int p = 0; m->by & BY_POINT && p < NR_POINTS; p++)
		if (!m->points || m->points >> p & 1)
			names = text("%s%s%s", names, *names ? ", " : "", point_names[p]);
	return names;
}

/* The labels of its rows, as in JSON. */
static unsigned labels_of(const struct meter *m, const char *labels[16])
{
	unsigned nr = 0;

	if (m->by & BY_POINT)
		labels[nr++] = "point";
	if (m->by & BY_QUEUE)
		labels[nr++] = "queue";
	if (m->by & BY_CPU)
		labels[nr++] = "cpu";
	for (unsigned i = 0; m->by & BY_KEY && m->key.labels[i] && nr < 16; i++)
		labels[nr++] = m->key.labels[i];
	return nr;
}

static void metric_say(struct page *page, const struct metric *k)
{
	const char *labels = "";
	char key[64];

	metric_key(k, key, sizeof(key));
	page_line(page, 4, key, KINDS, text("%s, %s", metric_kind(k), k->unit));
	page_spaces(page, 8);
	page_wrap(page, 8, k->help);
	page_newline(page);
	for (unsigned i = 0; k->label && i < k->words; i++)
		labels = text("%s%s%s", labels, i ? ", " : "", k->labels[i]);
	if (k->label)
		page_remark(page, 8, text("one for each of: %s", labels));
}

void describe_meter(struct page *page, const struct meter *m, bool permitted)
{
	const char *labels[16], *by = "", *no = m->cannot && permitted ? m->cannot() : NULL;
	const char *what = m->host ? "host" : "IFACE";
	unsigned nr = labels_of(m, labels);

	for (unsigned i = 0; i < nr; i++)
		by = text("%s%s%s", by, i ? ", " : "", labels[i]);
	page_style(page, STYLE_BOLD);
	page_put(page, m->name, -1);
	page_style(page, STYLE_PLAIN);
	page_spaces(page, 2);
	page_wrap(page, 2, m->help);
	page_newline(page);
	say(page, "rows by", by);
	say(page, "points", point_list(m));
	say(page, "needs", meter_names(meter_needs(m)));
	say(page, "uses", meter_names(meter_uses(m) & ~meter_needs(m)));
	if (m->sample)
		say(page, "samples", text("1 packet in %u, unless --sample changes it",
					  m->sample));
	say(page, "attached", m->on_request ? text("only on request: nicprobe attach %s -m %s",
						   what, m->name) :
	    m->host ? "by default: nicprobe attach host" : "by default");
	say(page, "reason", m->on_request);
	if (permitted)
		say(page, "works here", no ? text("no: %s", no) : "yes");
	page_line(page, 2, "metrics", SAID, "");
	for_each_metric(k, m)
		metric_say(page, k);
	say(page, "see", text("nicprobe show %s %s; nicprobe-meters(7)", what, m->name));
}

static void json_names(struct json *j, const char *key, __u64 set)
{
	json_open(j, key, '[');
	for (int id = 0; id < NR_METERS; id++)
		if (set >> id & 1)
			json_string(j, NULL, meters[id]->name);
	json_close(j);
}

void describe_meter_json(struct json *j, const struct meter *m)
{
	const char *labels[16];
	unsigned nr = labels_of(m, labels);

	json_bool(j, "host", m->host);
	json_open(j, "labels", '[');
	for (unsigned i = 0; i < nr; i++)
		json_string(j, NULL, labels[i]);
	json_close(j);
	json_names(j, "needs", meter_needs(m));
}
