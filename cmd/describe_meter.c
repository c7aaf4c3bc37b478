/* SPDX-License-Identifier: GPL-2.0 */
/* One meter, as a page of the manual at hand: nicprobe list -v METER. */
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/describe.h"
#include "lib/util/log.h"
#include "render/json_writer.h"
#include "render/text.h"

#define SAID	16	/* columns before what is said… */
#define KINDS	28	/* …and before what kind of figure it is */

/* "needs       txlat": nothing where there is nothing to say. */
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

/* Where packets must be seen for it; "": it does not look at packets of a point. */
static const char *point_list(const struct meter *m)
{
	const char *names = "";

	for (int p = 0; m->by & BY_POINT && p < NR_POINTS; p++)
		if (!m->points || m->points >> p & 1)
			names = text("%s%s%s", names, *names ? ", " : "", point_names[p]);
	return names;
}

/* What tells its rows apart, by the labels that JSON has. */
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
	say(page, "looks at", point_list(m));
	say(page, "needs", meter_names(meter_needs(m)));
	say(page, "uses", meter_names(meter_uses(m) & ~meter_needs(m)));
	if (m->sample)
		say(page, "follows", text("1 packet in %u, unless --sample says otherwise",
					  m->sample));
	say(page, "attached", m->on_request ? text("only on request, -m %s", m->name) :
	    "unless -m names others");
	say(page, "costs", m->on_request);
	if (permitted)
		say(page, "works here", no ? text("no: %s", no) : "yes");
	page_line(page, 2, "figures", SAID, "");
	for_each_metric(k, m)
		metric_say(page, k);
	say(page, "see", text("nicprobe show IFACE %s; nicprobe-meters(7)", m->name));
}

static void json_names(struct json *j, const char *key, __u64 set)
{
	json_open(j, key, '[');
	for (int id = 0; id < NR_METERS; id++)
		if (set >> id & 1)
			json_string(j, NULL, meters[id]->name);
	json_close(j, ']');
}

void describe_meter_json(struct json *j, const struct meter *m)
{
	const char *labels[16];
	unsigned nr = labels_of(m, labels);

	json_open(j, "labels", '[');
	for (unsigned i = 0; i < nr; i++)
		json_string(j, NULL, labels[i]);
	json_close(j, ']');
	json_names(j, "needs", meter_needs(m));
}
