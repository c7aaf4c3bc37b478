/* SPDX-License-Identifier: GPL-2.0 */
/* Named values of a window, for the rows of views: each from the figures of its meter. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/core/key.h"
#include "render/glance.h"
#include "top/values.h"

/* A metric of a meter by its name, which must exist. */
static const struct metric *named(enum meter_id id, const char *name)
{
	for_each_metric(k, meters[id])
		if (!strcmp(k->name, name))
			return k;
	abort();
}

/* Does a keyed row belong to this queue? */
static bool key_has_queue(const struct meter *m, const void *key, int queue)
{
	char text[64];

	for (unsigned i = 0; m->key.labels[i]; i++) {
		if (strcmp(m->key.labels[i], "queue"))
			continue;
		m->key.text(key, i, text, sizeof(text));
		return atoi(text) == queue && *text >= '0' && *text <= '9';
	}
	return false;
}

static bool row_is_of(const struct snapshot *s, const struct meter *m, unsigned row, int queue,
		      unsigned point)
{
	const struct table *t = &s->tables[meter_id(m)];

	if (m->by & BY_KEY)
		return queue == QUEUE_ALL ? !key_part(m, key_of(m, t, row)) :
					    key_has_queue(m, key_of(m, t, row), queue);
	if (point < NR_POINTS && m->by & BY_POINT && place_of(s, m, row).point != point)
		return false;
	if (queue == QUEUE_ALL)
		return true;
	return m->by & BY_QUEUE && place_of(s, m, row).queue == (queue < 0 ? -1 : queue);
}

/* The next row that may be of this queue, from `row` on: of arrays only those are looked at. */
static unsigned row_next(const struct snapshot *s, const struct meter *m, unsigned row, int queue)
{
	unsigned rows = s->meta.rows, wanted = queue < 0 ? rows - 1 : (unsigned)queue;

	if (m->by & BY_KEY || !(m->by & BY_QUEUE) || queue == QUEUE_ALL || wanted >= rows)
		return row;
	return row + (wanted + rows - row % rows) % rows;
}

bool words_of_queue(const struct snapshot *s, const struct meter *m, const struct metric *k,
		    int queue, unsigned point, uint64_t *words)
{
	const struct table *t = &s->tables[meter_id(m)];
	bool any = false;

	memset(words, 0, k->words * sizeof(*words));
	for (unsigned row = 0; t->cells; row++) {
		row = row_next(s, m, row, queue);
		if (row >= t->rows)
			break;
		if (!row_is_of(s, m, row, queue, point))
			continue;
		any = true;
		for (unsigned cpu = 0; cpu < t->cpus; cpu++)
			if (!cell_idle(t, row, cpu))
				words_add(words, cell(t, row, cpu, k), k->words);
	}
	return any;
}

/* The words of a metric that is not of keyed rows, in a new array; NULL: there are none. */
static uint64_t *sum_of(const struct snapshot *s, enum meter_id id, const struct metric *k,
			int queue, unsigned point)
{
	uint64_t *words = s->tables[id].cells ? calloc(k->words, sizeof(*words)) : NULL;

	if (words && words_of_queue(s, meters[id], k, queue, point, words))
		return words;
	free(words);
	return NULL;
}

static double per_second(const struct snapshot *s, enum meter_id id, double n)
{
	double seconds = table_seconds(s, meters[id]);

	return seconds > 0 ? n / seconds : NAN;
}

/* The mean of a histogram of wire packets by buffer. */
static double per_buffer(const struct snapshot *s, enum meter_id id)
{
	const struct metric *k = meters[id]->metrics;
	uint64_t *words = sum_of(s, id, k, -1, NR_POINTS);
	double mean = NAN;

	if (words && hist_count(k, words))
		mean = words[0] * k->scale / hist_count(k, words);
	free(words);
	return mean;
}

static void way_of(const struct snapshot *s, enum point nic, enum point stack, struct way *way)
{
	const struct metric *k = meters[METER_pktsize]->metrics;
	enum point point = *s->meta.hook[nic] ? nic : stack;
	uint64_t packets, *words;
	struct busiest b;

	*way = (struct way){ NAN, NAN, NAN, -1, NAN };
	if (!packets_of(s, nic, stack, &packets))
		return;
	words = sum_of(s, METER_pktsize, k, -1, point);
	way->packets = per_second(s, METER_pktsize, packets);
	way->bytes = words ? per_second(s, METER_pktsize, words[0]) : NAN;
	free(words);
	b = busiest_queue_of(s, meters[METER_pktsize], point * s->meta.rows,
			     (point + 1) * s->meta.rows);
	if (!packets || b.queue < 0)
		return;
	way->busiest = b.queue;
	way->share = (double)b.most / packets;
}

static double ce_share(const struct snapshot *s)
{
	static const char *const marks[] = { "ect0", "ect1", "ce" };
	const struct metric *k = named(METER_ecn, "packets");
	enum point point = *s->meta.hook[RX_NIC] ? RX_NIC : RX_STACK;
	uint64_t *words = sum_of(s, METER_ecn, k, -1, point), capable = 0, ce = 0;

	for (unsigned i = 0; words && i < k->words; i++)
		for (unsigned j = 0; j < sizeof(marks) / sizeof(*marks); j++)
			if (!strcmp(k->labels[i], marks[j])) {
				capable += words[i];
				ce = j == 2 ? words[i] : ce;
			}
	free(words);
	return capable ? (double)ce / capable : NAN;
}

/* Dropped packets, and the reason of most of them. */
static void drops(const struct snapshot *s, struct values *v)
{
	const struct meter *m = meters[METER_drop];
	const struct table *t = &s->tables[METER_drop];
	uint64_t all, most = 0;
	char (*reasons)[48];

	v->drops = NAN;
	if (!packets_dropped(s, &all))
		return;
	v->drops = per_second(s, METER_drop, all);
	reasons = calloc(t->rows + 1, sizeof(*reasons));
	for (unsigned row = 0; reasons && row < t->rows; row++)
		if (!m->key.is_minor(key_of(m, t, row)))
			m->key.text(key_of(m, t, row), 0, reasons[row], sizeof(*reasons));
	for (unsigned row = 0; reasons && row < t->rows; row++) {
		uint64_t n = 0;

		for (unsigned i = 0; *reasons[row] && i < t->rows; i++)
			if (!strcmp(reasons[row], reasons[i]))
				n += row_weight(m, row_words(t, i, 0));
		if (n > most) {
			most = n;
			snprintf(v->cause, sizeof(v->cause), "%s", reasons[row]);
		}
	}
	free(reasons);
}

static double percentile_of(const struct snapshot *s, enum meter_id id, const char *name,
			    int queue, double p)
{
	const struct metric *k = named(id, name);
	uint64_t *words = sum_of(s, id, k, queue, NR_POINTS);
	double value = words ? hist_percentile(k, words, p) : NAN;

	free(words);
	return value;
}

static double completion(const struct snapshot *s, int queue, double p)
{
	return percentile_of(s, METER_txlat, "completion", queue, p);
}

static double polls_of(const struct snapshot *s, int queue)
{
	const struct metric *k = named(METER_napi, "polls");
	uint64_t *words = sum_of(s, METER_napi, k, queue, NR_POINTS), n = 0;
	double polls;

	for (unsigned i = 0; words && i < k->words; i++)
		n += words[i];
	polls = words ? per_second(s, METER_napi, n) : NAN;
	free(words);
	return polls;
}

struct found values_found(const struct snapshot *s)
{
	return (struct found){
		findings_count(&s->findings, SEVERITY_INFO),
		findings_count(&s->findings, SEVERITY_CRITICAL) ? SEVERITY_CRITICAL :
		findings_count(&s->findings, SEVERITY_WARNING) ? SEVERITY_WARNING : SEVERITY_INFO,
	};
}

void values_of(const struct snapshot *s, struct values *v)
{
	*v = (struct values){ .p50 = completion(s, -1, .5), .p99 = completion(s, -1, .99) };
	way_of(s, RX_NIC, RX_STACK, &v->rx);
	way_of(s, TX_NIC, TX_STACK, &v->tx);
	v->rx.per_buffer = per_buffer(s, METER_gro);
	v->tx.per_buffer = per_buffer(s, METER_gso);
	v->ce = ce_share(s);
	drops(s, v);
	v->polls = polls_of(s, -1);
	v->cost = cost_share(s);
	v->found = values_found(s);
}

/* A counter of keyed rows: 0 where there are none yet, NAN where its meter is not attached. */
static double rate_of(const struct snapshot *s, enum meter_id id, const char *name,
		      const char *label)
{
	const struct metric *k = named(id, name);
	uint64_t *words = sum_of(s, id, k, QUEUE_ALL, NR_POINTS), n = 0;

	for (unsigned i = 0; words && i < k->words; i++)
		if (!label || !strcmp(k->labels[i], label))
			n += words[i];
	free(words);
	return s->meta.on >> id & 1 ? per_second(s, id, n) : NAN;
}

void values_host(const struct snapshot *s, struct host_values *v)
{
	*v = (struct host_values){
		.opened = rate_of(s, METER_connect, "ends", "established"),
		.connect_p99 = percentile_of(s, METER_connect, "latency", QUEUE_ALL, .99),
		.accepted = rate_of(s, METER_accept, "connections", NULL),
		.ended = rate_of(s, METER_session, "sessions", NULL),
		.received = rate_of(s, METER_session, "received", NULL),
		.sent = rate_of(s, METER_session, "sent", NULL),
		.again = rate_of(s, METER_tcp, "retransmits", NULL),
		.rtt_p50 = percentile_of(s, METER_tcp, "rtt", QUEUE_ALL, .5),
		.rtt_p99 = percentile_of(s, METER_tcp, "rtt", QUEUE_ALL, .99),
		.dropped = rate_of(s, METER_sockmem, "dropped", NULL) +
			   rate_of(s, METER_backlog, "drops", NULL),
	};
	v->found = values_found(s);
	/* not of "attempts", which the program adds to at another moment than to "ends" */
	v->failed = rate_of(s, METER_connect, "ends", NULL) - v->opened;
}

/* Packets/s of a queue at the point nearest to the wire. */
static double of_queue(const struct snapshot *s, enum point nic, enum point stack, int queue)
{
	const struct metric *k = meters[METER_pktsize]->metrics;
	enum point point = *s->meta.hook[nic] ? nic : stack;
	uint64_t *words = *s->meta.hook[point] ? sum_of(s, METER_pktsize, k, queue, point) : NULL;
	double n = words ? per_second(s, METER_pktsize, hist_count(k, words)) : NAN;

	free(words);
	return n;
}

void values_queue(const struct snapshot *s, int queue, struct queue_values *v)
{
	v->received = of_queue(s, RX_NIC, RX_STACK, queue);
	v->sent = of_queue(s, TX_NIC, TX_STACK, queue);
	v->p99 = completion(s, queue, .99);
	v->polls = polls_of(s, queue);
}

void values_cpu(const struct snapshot *s, unsigned cpu, struct processor_values *v)
{
	const struct table *t = &s->tables[METER_rxcpu];
	uint64_t n = 0;

	for (unsigned row = 0; t->cells && cpu < t->cpus && row < t->rows; row++)
		if (!cell_idle(t, row, cpu))
			n += row_weight(meters[METER_rxcpu], row_words(t, row, cpu));
	v->packets = t->cells ? per_second(s, METER_rxcpu, n) : NAN;
	v->network = cpu < s->load.nr ? load_network(&s->load, cpu) : NAN;
	v->idle = cpu < s->load.nr ? load_idle(&s->load, cpu) : NAN;
}

bool is_latency(const struct metric *k)
{
	return k->kind == KIND_HISTOGRAM && !strcmp(k->unit, "seconds") && !metric_classes(k);
}

static void past_latencies(struct past *p, const struct snapshot *s)
{
	for (unsigned id = 0; id < NR_METERS; id++) {
		unsigned nr = 0;

		if (!s->tables[id].cells)
			continue;
		for_each_metric(k, meters[id]) {
			uint64_t *words = is_latency(k) ? sum_of(s, id, k, -1, NR_POINTS) : NULL;

			if (words && hist_count(k, words)) {
				past_put(p, PAST_P50, id, nr, hist_percentile(k, words, .5));
				past_put(p, PAST_P99, id, nr, hist_percentile(k, words, .99));
			}
			free(words);
			nr++;
		}
	}
}

void values_past(struct past *p, const struct snapshot *s)
{
	unsigned queues = s->meta.rx_queues > s->meta.tx_queues ? s->meta.rx_queues :
			  s->meta.tx_queues;
	struct values v;

	values_of(s, &v);
	past_put(p, PAST_RECEIVED, 0, 0, v.rx.packets);
	past_put(p, PAST_SENT, 0, 0, v.tx.packets);
	past_put(p, PAST_DROPS, 0, 0, v.drops);
	for (unsigned q = 0; q < queues && q < s->meta.rows; q++) {
		struct queue_values of;

		of.received = of_queue(s, RX_NIC, RX_STACK, q);
		of.sent = of_queue(s, TX_NIC, TX_STACK, q);
		past_put(p, PAST_QUEUE_RECEIVED, q, 0, of.received);
		past_put(p, PAST_QUEUE_SENT, q, 0, of.sent);
	}
	for (unsigned cpu = 0; cpu < s->load.nr; cpu++)
		past_put(p, PAST_CPU, cpu, 0, load_network(&s->load, cpu));
	past_latencies(p, s);
}
