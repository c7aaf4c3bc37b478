/* SPDX-License-Identifier: GPL-2.0 */
/* What `trace` has gathered, for other programs: JSON and OpenMetrics. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/log.h"
#include "render/json_writer.h"
#include "render/openmetrics.h"
#include "probes/raw.h"
#include "render/trace_stacks.h"

#define VALUE_SIZE	96

static const char *const loss_names[] = {
	[LOST_KEY] = "keys", [LOST_EVENT] = "events", [LOST_NESTED] = "nested",
	[LOST_TIME] = "times", [LOST_HEADER] = "headers", [LOST_LINK] = "links",
	[LOST_STACK] = "stacks", [LOST_CALL] = "calls", [LOST_MISSED] = "missed",
};

static const char *const aggregation_names[] = {
	[AGG_COUNT] = "count", [AGG_SUM] = "sum", [AGG_MIN] = "min", [AGG_MAX] = "max",
	[AGG_AVG] = "avg", [AGG_QUANTIZE] = "quantize", [AGG_LQUANTIZE] = "lquantize",
};

/* A number as one, everything else as text; null: the event has no such field. */
static void value_json(struct json *j, const struct field *f, const void *from, bool there)
{
	char value[VALUE_SIZE];
	__s64 n = 0;

	if (!there) {
		json_null(j, f->name);
	} else if (field_is_stack(f)) {
		stack_json(j, f, from);
	} else if ((f->format == FORMAT_DECIMAL && f->size <= 8) ||
		   (f->format == FORMAT_WORD && !word_is_address(from))) {
		memcpy(&n, from, f->size);
		if (f->is_signed)
			json_double(j, f->name, f->size == 4 ? (__s32)n : n);
		else
			json_uint(j, f->name, n);
	} else {
		field_text(f, from, value, sizeof(value));
		json_string(j, f->name, value);
	}
}

static double slot_from(const struct query *q, unsigned slot)
{
	if (q->aggregation == AGG_LQUANTIZE)
		return (double)q->low + ((double)slot - 1) * q->step;
	return slot == QUANTIZE_ZERO ? 0 : slot > QUANTIZE_ZERO ?
	       ldexp(1, slot - QUANTIZE_ZERO - 1) : -ldexp(1, QUANTIZE_ZERO - slot) + 1;
}

/* "from": the least value of the slot; null for those below the lowest step. */
static void slots_json(struct json *j, const struct query *q, const struct gathered *row)
{
	json_open(j, "slots", '[');
	for (unsigned i = 0; i < q->slots; i++) {
		if (!row->slot[i])
			continue;
		json_open(j, NULL, '{');
		if (q->aggregation == AGG_LQUANTIZE && !i)
			json_null(j, "from");
		else
			json_double(j, "from", slot_from(q, i));
		json_uint(j, "count", row->slot[i]);
		json_close(j);
	}
	json_close(j);
}

static void row_json(struct json *j, const struct question *q, const struct gathered *row)
{
	enum aggregation a = q->query.aggregation;

	json_open(j, NULL, '{');
	for (unsigned i = 0; i < q->nr_keys; i++)
		value_json(j, q->keys[i], row->key.bytes + q->query.part[i].at,
			   !(row->key.absent >> i & 1));
	json_uint(j, "count", row->n);
	if (a == AGG_QUANTIZE || a == AGG_LQUANTIZE) {
		json_double(j, "sum", row->sum);
		slots_json(j, &q->query, row);
	} else if (a != AGG_COUNT) {
		json_double(j, aggregation_names[a], gathered_figure(q, row));
	}
	json_close(j);
}

static void losses_json(struct json *j, const __u64 *losses)
{
	json_open(j, "lost", '{');
	for (int i = 0; i <= NR_LOSSES; i++)
		if (losses[i])
			json_uint(j, loss_names[i], losses[i]);
	json_close(j);
}

static void probes_json(struct json *j, const struct question *q)
{
	json_open(j, "probes", '[');
	for (int p = 0; p < NR_STABLE_PROBES; p++)
		if (q->probes >> p & 1 && !raw_has(probe_bit(p)))
			json_string(j, NULL, probe_name(p));
	for (unsigned i = 0; i < raw_asked.nr; i++)
		if (!raw_asked.list[i].begins)
			json_string(j, NULL, raw_name(&raw_asked.list[i]));
	json_close(j);
}

void trace_json(FILE *out, const struct trace_result *r)
{
	const struct question *q = r->question;
	struct json j = { .out = out };

	json_open(&j, NULL, '{');
	probes_json(&j, q);
	json_double(&j, "seconds", r->seconds);
	json_bool(&j, "interval", r->interval);
	if (q->query.aggregation != AGG_PRINT) {
		json_string(&j, "aggregation", aggregation_names[q->query.aggregation]);
		if (q->measured)
			json_string(&j, "of", q->measured->name);
		json_open(&j, "rows", '[');
		for (int i = 0; i < r->nr; i++)
			row_json(&j, q, &r->rows[i]);
		json_close(&j);
	}
	if (r->left_out)
		json_uint(&j, "left_out", r->left_out);
	losses_json(&j, r->losses);
	json_close(&j);
	fputc('\n', out);
	fflush(out);
}

void trace_event_json(FILE *out, const struct question *q, const struct probe_event *e)
{
	struct json j = { .out = out };

	json_open(&j, NULL, '{');
	for (unsigned i = 0; i < q->nr_printed; i++) {
		const struct field *f = q->printed[i];

		value_json(&j, f, (const char *)e + f->offset, e->have >> f->group & 1);
	}
	json_close(&j);
	fputc('\n', out);
}

static void labels_print(FILE *out, const struct question *q, const struct gathered *row,
			 const char *more)
{
	bool comma = false;

	fputc('{', out);
	for (unsigned i = 0; i < q->nr_keys; i++) {
		char value[VALUE_SIZE] = "", *stack = NULL;

		if (row->key.absent >> i & 1)
			continue;
		if (field_is_stack(q->keys[i]))
			stack = stack_joined(q->keys[i], row->key.bytes + q->query.part[i].at);
		else
			field_text(q->keys[i], row->key.bytes + q->query.part[i].at, value,
				   sizeof(value));
		fprintf(out, "%s%s=\"", comma ? "," : "", q->keys[i]->name);
		openmetrics_escaped(out, stack ?: value);
		free(stack);
		fputc('"', out);
		comma = true;
	}
	if (more)
		fprintf(out, "%s%s", comma ? "," : "", more);
	fputc('}', out);
}

/* A histogram: cumulative, by the greatest value of each slot. */
static void buckets_print(FILE *out, const struct question *q, const struct gathered *row)
{
	__u64 sum = 0;

	for (unsigned i = 0; i + 1 < q->query.slots; i++) {
		sum += row->slot[i];
		if (!row->slot[i])
			continue;
		fputs("nicprobe_trace_value_bucket", out);
		labels_print(out, q, row, text("le=\"%.17g\"", slot_from(&q->query, i + 1) - 1));
		fprintf(out, " %" PRIu64 "\n", (uint64_t)sum);
	}
	fputs("nicprobe_trace_value_bucket", out);
	labels_print(out, q, row, "le=\"+Inf\"");
	fprintf(out, " %" PRIu64 "\nnicprobe_trace_value_count", (uint64_t)row->n);
	labels_print(out, q, row, NULL);
	fprintf(out, " %" PRIu64 "\nnicprobe_trace_value_sum", (uint64_t)row->n);
	labels_print(out, q, row, NULL);
	fprintf(out, " %" PRId64 "\n", (int64_t)row->sum);
}

void trace_metrics(FILE *out, const struct trace_result *r, bool prometheus)
{
	const char *total = prometheus ? "_total" : "";
	const struct question *q = r->question;
	enum aggregation a = q->query.aggregation;
	bool histogram = a == AGG_QUANTIZE || a == AGG_LQUANTIZE;

	if (a == AGG_COUNT)
		fprintf(out, "# TYPE nicprobe_trace_events%s counter\n", total);
	else
		fprintf(out, "# TYPE nicprobe_trace_value %s\n", histogram ? "histogram" : "gauge");
	for (int i = 0; i < r->nr; i++) {
		if (histogram) {
			buckets_print(out, q, &r->rows[i]);
			continue;
		}
		fputs(a == AGG_COUNT ? "nicprobe_trace_events_total" : "nicprobe_trace_value", out);
		labels_print(out, q, &r->rows[i], NULL);
		fprintf(out, " %.17g\n", gathered_figure(q, &r->rows[i]));
	}
	fprintf(out, "# TYPE nicprobe_trace_lost%s counter\n", total);
	for (int i = 0; i <= NR_LOSSES; i++)
		fprintf(out, "nicprobe_trace_lost_total{what=\"%s\"} %" PRIu64 "\n", loss_names[i],
			(uint64_t)r->losses[i]);
	if (!prometheus)
		fputs("# EOF\n", out);
	fflush(out);
}
