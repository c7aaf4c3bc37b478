/* SPDX-License-Identifier: GPL-2.0 */
/* The format json: one object per snapshot, on one line; man/nicprobe-json.5 describes it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/core/key.h"
#include "lib/read/derived.h"
#include "lib/util/log.h"
#include "render/findings.h"
#include "render/hw/hw.h"
#include "render/json_writer.h"
#include "render/render.h"
#include "render/sampled.h"
#include "render/shown.h"

#define DOCUMENT 3	/* version of the document; incremented by incompatible changes */

static void labelled(struct json *j, const char *key, const struct metric *k, const uint64_t *w)
{
	json_open(j, key, '{');
	for (unsigned i = 0; i < k->words; i++)
		json_uint(j, k->labels[i], w[i]);
	json_close(j);
}

static void percentiles(struct json *j, const struct metric *k, const uint64_t *w)
{
	static const struct {
		const char *name;
		double p;
	} list[] = { { "p50", .5 }, { "p90", .9 }, { "p99", .99 }, { "p999", .999 } };

	for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++)
		json_double(j, list[i].name, hist_percentile(k, w, list[i].p));
	json_double(j, "max", hist_max(k, w));
}

/* `one_in`: it has one packet in so many. */
static void histogram(struct json *j, const char *key, const struct metric *k, const uint64_t *w,
		      double one_in)
{
	json_open(j, key, '{');
	if (one_in > 1)
		json_double(j, "one_in", one_in);
	json_uint(j, "count", hist_count(k, w));
	if (k->scale == 1)
		json_uint(j, "sum", w[0]);
	else
		json_double(j, "sum", w[0] * k->scale);
	if (!metric_classes(k))
		percentiles(j, k, w);
	json_open(j, "le", '{');
	for (unsigned i = 0; i < hist_slots(k); i++) {
		double bound = hist_bound(k, i);
		char le[32] = "+Inf";

		if (!metric_classes(k) && !w[1 + i])
			continue;
		if (!isinf(bound))
			snprintf(le, sizeof(le), "%.9g", bound);
		json_uint(j, le, w[1 + i]);
	}
	json_close(j);
	json_close(j);
}

/* The discrepancy, and its uncertainty unless that is 0. */
static void residue(struct json *j, const char *key, const struct metric *k, const uint64_t *w)
{
	uint64_t within;
	int64_t is = residue_of(k, w, &within);
	char name[128];

	json_double(j, key, is);
	if (!within)
		return;
	snprintf(name, sizeof(name), "%s_within", key);
	json_uint(j, name, within);
}

/* Labels that are numbers in every meter, and null if unknown. */
static bool numeric(const char *name)
{
	static const char *const names[] = {
		"queue", "cpu", "irq", "pid", "socket", "uid", "umem"
	};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static void label(struct json *j, const char *name, const char *text)
{
	if (!numeric(name))
		json_string(j, name, text);
	else if (*text >= '0' && *text <= '9')
		json_uint(j, name, strtoul(text, NULL, 10));
	else if (!strcmp(text, "all"))
		json_string(j, name, text);
	else
		json_null(j, name);
}

static void notes(struct json *j, const struct meter *m, const void *key)
{
	char line[160];

	if (!m->key.note || !key_line(m, key, 0, line, sizeof(line)))
		return;
	json_open(j, m->key.note, '[');
	for (unsigned i = 0; key_line(m, key, i, line, sizeof(line)); i++)
		json_string(j, NULL, line);
	json_close(j);
}

static void place(struct json *j, const struct snapshot *s, const struct meter *m,
		  unsigned row, unsigned cpu)
{
	struct place at;

	if (m->by & BY_KEY) {
		const void *key = key_of(m, &s->tables[meter_id(m)], row);

		for (unsigned i = 0; m->key.labels[i]; i++) {
			char text[KEY_TEXT];

			key_text(m, key, i, text, sizeof(text));
			label(j, m->key.labels[i], text);
		}
		if (m->key.minor && key_minor(m, key))
			json_bool(j, m->key.minor, true);
		notes(j, m, key);
		return;
	}
	at = place_of(s, m, row);
	if (m->by & BY_POINT)
		json_string(j, "point", point_names[at.point]);
	if (m->by & BY_QUEUE && at.queue < 0)
		json_null(j, "queue");
	else if (m->by & BY_QUEUE)
		json_uint(j, "queue", at.queue);
	if (m->by & BY_CPU)
		json_uint(j, "cpu", cpu);
}

static void row_object(struct json *j, const struct snapshot *s, const struct meter *m,
		       unsigned row, unsigned cpu)
{
	json_open(j, NULL, '{');
	place(j, s, m, row, cpu);
	for_each_metric(k, m) {
		const uint64_t *w = cell(&s->tables[meter_id(m)], row, cpu, k);
		char key[96];

		metric_key(k, key, sizeof(key));
		if (k->untold && !*w)
			json_null(j, key);
		else if (k->kind == KIND_HISTOGRAM)
			histogram(j, key, k, w, meter_one_in(s, meter_id(m)));
		else if (k->kind == KIND_LEVEL)
			json_uint(j, key, level_of(w));
		else if (k->kind == KIND_RESIDUE)
			residue(j, key, k, w);
		else if (k->label)
			labelled(j, key, k, w);
		else
			json_uint(j, key, *w);
		if (k->per_packet && snapshot_packets(s))
			json_double(j, text("%s_per_packet", key),
				    (double)*w / snapshot_packets(s));
	}
	json_close(j);
}

static void meters_object(struct json *j, const struct snapshot *s)
{
	json_open(j, "meters", '{');
	for (unsigned id = 0; id < NR_METERS; id++) {
		const struct table *t = &s->tables[id];

		if (!meter_shown(s, id))
			continue;
		json_open(j, meters[id]->name, '[');
		for (unsigned row = 0; row < t->rows; row++)
			for (unsigned cpu = 0; cpu < t->cpus; cpu++)
				if (!row_idle(meters[id], t, row, cpu))
					row_object(j, s, meters[id], row, cpu);
		json_close(j);
	}
	json_close(j);
}

/* Meters with a sampling rate of their own: N for 1 packet in N. */
static void sampled(struct json *j, const struct snapshot *s)
{
	json_open_unless_empty(j, "sampled");
	for (unsigned id = 0; id < NR_METERS; id++)
		if (meter_shown(s, id) && meters[id]->sample &&
		    !meter_adapts(meters[id], &s->meta))
			json_uint(j, meters[id]->name, meter_sample(meters[id], &s->meta));
	json_close(j);
}

/* Meters that may pass packets by: how many they followed. */
static void thinned(struct json *j, const struct snapshot *s)
{
	json_open_unless_empty(j, "thinned");
	for (unsigned id = 0; id < NR_METERS; id++) {
		struct thinned t = thinned_of(s, id);

		if (!meter_shown(s, id) || !meter_thins(s, id))
			continue;
		json_open(j, meters[id]->name, '{');
		json_double(j, "one_in", meter_one_in(s, id));
		json_uint(j, "packets", t.taken + t.passed);
		json_uint(j, "followed", t.taken);
		json_uint(j, "paused", t.paused);
		json_close(j);
	}
	json_close(j);
	if (!s->meta.budget)
		return;
	json_open(j, "budget", '{');
	json_double(j, "percent", s->meta.budget / 1e4);
	json_double(j, "taken_percent", 100 * thinned_share(s));
	json_bool(j, "holds", thinned_holds(s));
	json_close(j);
}

static void packet_hooks(struct json *j, const struct snapshot *s)
{
	json_open(j, "hooks", '{');
	for (unsigned p = 0; p < NR_POINTS; p++)
		json_string_or_null(j, point_names[p], s->meta.hook[p]);
	json_close(j);
}

/* Meters are read one after the other, so each has its own duration. */
static void clocks(struct json *j, const struct snapshot *s)
{
	json_open_unless_empty(j, "meter_seconds");
	for (unsigned id = 0; id < NR_METERS; id++)
		if (meter_shown(s, id) && s->tables[id].seconds > 0)
			json_double(j, meters[id]->name, s->tables[id].seconds);
	json_close(j);
}

/* Points that do not see all packets, and why; the key is left out if there are none. */
static void blind(struct json *j, const struct snapshot *s)
{
	json_open_unless_empty(j, "blind");
	for (unsigned p = 0; p < NR_POINTS; p++)
		if (*s->blind[p])
			json_string(j, point_names[p], s->blind[p]);
	json_close(j);
}

void json_interface(struct json *j, const struct meta *meta, const char *label)
{
	json_string_or_null(j, "interface", meta->iface);
	json_string(j, "name", label);
	json_uint(j, "ifindex", meta->ifindex);
	json_uint(j, "netns", meta->netns);
	json_string_or_null(j, "netns_name", netns_in(label));
	json_string(j, "driver", meta->driver);
}

static void head(struct json *j, const struct snapshot *s)
{
	json_uint(j, "nicprobe", DOCUMENT);
	json_interface(j, &s->meta, s->name);
	json_open(j, "queues", '{');
	json_uint(j, "rx", s->meta.rx_queues);
	json_uint(j, "tx", s->meta.tx_queues);
	json_close(j);
	if (measured(s))
		packet_hooks(j, s);
	json_time(j, "time", &s->when);
	if (!measured(s))
		return;
	json_double(j, "seconds", s->seconds);
	clocks(j, s);
	json_bool(j, "interval", s->interval);
	if (s->meta.sample > 1)
		json_uint(j, "sample", s->meta.sample);
	sampled(j, s);
	thinned(j, s);
	if (s->state[0])
		json_string(j, "state", s->state);
	blind(j, s);
}

static void remarks(struct json *j, const struct snapshot *s)
{
	json_open_unless_empty(j, "remarks");
	for (unsigned id = 0; id < NR_METERS; id++)
		if (meter_remark(s, id))
			json_string(j, meters[id]->name, meter_remark(s, id));
	json_close(j);
}

/* Points and meters that may lack missed events, and how many at most. */
static void may_lack(struct json *j, const struct snapshot *s)
{
	if (!s->missed)
		return;
	json_open(j, "may_lack", '{');
	for (unsigned p = 0; p < NR_POINTS; p++)
		if (s->missed_point[p])
			json_uint(j, point_names[p], s->missed_point[p]);
	for (unsigned id = 0; id < NR_METERS; id++)
		if (s->missed_meter[id])
			json_uint(j, meters[id]->name, s->missed_meter[id]);
	json_close(j);
}

static void caveats(struct json *j, const struct snapshot *s)
{
	json_open(j, "absent", '{');
	for (unsigned p = 0; p < NR_POINTS; p++)
		if (point_absent(s, p))
			json_string(j, point_names[p], point_absent(s, p));
	for (unsigned id = 0; id < NR_METERS; id++)
		if (meter_absent(s, id))
			json_string(j, meters[id]->name, meter_absent(s, id));
	json_close(j);
	remarks(j, s);
	json_open(j, "lost", '{');
	for (unsigned id = 0; id < NR_METERS; id++)
		if (meter_loses(s, id))
			json_uint(j, meters[id]->name, s->lost[id]);
	if (s->missed_hidden)
		json_null(j, "events");
	else
		json_uint(j, "events", s->missed);
	json_close(j);
	may_lack(j, s);
}

void json_snapshot(struct json *j, const struct snapshot *s)
{
	head(j, s);
	if (s->hw) {
		json_open(j, "hw", '{');
		hw_json(j, s->hw);
		json_close(j);
	}
	if (measured(s)) {
		meters_object(j, s);
		caveats(j, s);
	}
	findings_json(j, s);
}

static void one(FILE *out, const struct snapshot *s, const struct look *look)
{
	struct json j = { .out = out };

	(void)look;
	json_open(&j, NULL, '{');
	json_snapshot(&j, s);
	json_close(&j);
	fputc('\n', out);
}

const struct renderer renderer_json = {
	.name = "json",
	.help = "JSON, one object per snapshot and line",
	.one = one,
};
