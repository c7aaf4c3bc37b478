/* SPDX-License-Identifier: GPL-2.0 */
/* From options to a query: fields, keys, aggregation, and times. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/list.h"
#include "lib/util/log.h"
#include "probes/asking.h"
#include "probes/raw.h"

/* How messages call what is said by an option, or by a part of a clause of D. */
static const struct {
	const char *option, *flag, *of_d;
} labels[] = {
	{ "where", "--where", "the condition" }, { "by", "--by", "the keys" },
	{ "print", "--print", NULL }, { "count", "--count", "count()" },
	{ "sum", "--sum", "sum()" }, { "min", "--min", "min()" }, { "max", "--max", "max()" },
	{ "avg", "--avg", "avg()" }, { "quantize", "--quantize", "quantize()" },
	{ "lquantize", "--lquantize", "lquantize()" },
};

static const char *label(const struct asking *a, const char *option)
{
	unsigned i = 0;

	while (i < NR_OF(labels) - 1 && strcmp(labels[i].option, option))
		i++;
	return a->d ? labels[i].of_d : labels[i].flag;
}

static bool probe_in(probe_set probes, int p)
{
	return probes >> p & 1;
}

static struct part part_of(const struct field *f)
{
	return (struct part){ .offset = f->offset, .size = f->size, .group = f->group };
}

/* What times belong to, which every probe must have. */
static int on_fill(struct asking *a, const char *where, const char *list)
{
	struct query *q = &a->q->query;
	probe_set all = a->q->probes | a->q->since;
	char word[WORD_SIZE];

	while (word_next(&list, word)) {
		const struct field *f = field_used(a, where, word);

		if (!f)
			return -EINVAL;
		if (field_is_stack(f))
			return error_set(a->e, -EINVAL, text("--by %s", f->name),
					 "%s: %s can only be a key, or be printed", where, f->name);
		if (q->nr_on == ON_PARTS)
			return error_set(a->e, -E2BIG, NULL, "%s: more than %u fields", where,
					 ON_PARTS);
		for (int p = 0; p < NR_STABLE_PROBES; p++)
			if (probe_in(all, p) && !(probe_groups(p) >> f->group & 1))
				return error_set(a->e, -EINVAL,
						 text("nicprobe list -v %s", probe_name(p)),
						 "%s: events of %s have no %s", where,
						 probe_name(p), f->name);
		q->on[q->nr_on++] = part_of(f);
	}
	return 0;
}

static int times_fill(struct asking *a, const struct posed *asked)
{
	struct query *q = &a->q->query;
	int err;

	if (asked->since && asked->delta)
		return error_set(a->e, -EINVAL, NULL, "--since and --delta exclude each other");
	if (!asked->since != !asked->on)
		return error_set(a->e, -EINVAL, "--since PROBE --on cs_cid",
				 "--since and --on belong together");
	if (asked->since) {
		err = probes_asked(a, "--since", asked->since, &a->q->since);
		if (err)
			return err;
		for (int p = 0; p < NR_STABLE_PROBES; p++)
			if (probe_in(a->q->since & a->q->probes, p) && !raw_has(probe_bit(p)))
				return error_set(a->e, -EINVAL, text("--delta %s", asked->on),
						 "--since: %s is traced itself", probe_name(p));
	}
	q->delta = !!asked->delta;
	if (asked->since || asked->delta)
		return on_fill(a, asked->since ? "--on" : "--delta", asked->on ?: asked->delta);
	return 0;
}

static int keys_fill(struct asking *a, const char *list)
{
	struct query *q = &a->q->query;
	const char *where = label(a, "by");
	char word[WORD_SIZE];
	__u32 end = 0;

	while (word_next(&list, word)) {
		const struct field *f = field_used(a, where, word);
		__u32 align;

		if (!f)
			return -EINVAL;
		if (q->nr_parts == QUERY_KEYS)
			return error_set(a->e, -E2BIG, NULL, "%s: more than %u keys", where,
					 QUERY_KEYS);
		/* programs read and write a part as one, and a MAC address as halves of words */
		align = f->size == 6 ? 2 : f->size > 8 ? 8 : f->size;
		end = (end + align - 1) / align * align;
		q->part[q->nr_parts] = part_of(f);
		q->part[q->nr_parts].at = end;
		a->q->keys[q->nr_parts++] = f;
		end += f->size;
		if (end > QUERY_KEY_BYTES)
			return error_set(a->e, -E2BIG, NULL,
					 "%s: the keys are longer than %u bytes, "
					 "up to %s",
					 where, QUERY_KEY_BYTES, f->name);
	}
	a->q->nr_keys = q->nr_parts;
	q->key_size = sizeof(__u64) + (end + 7) / 8 * 8;
	return 0;
}

static int measure_fill(struct asking *a, const char *where, const char *word)
{
	const struct field *f = field_used(a, where, word);

	if (!f)
		return -EINVAL;
	if (!field_is_number(f))
		return error_set(a->e, -EINVAL, NULL, "%s: %s is no number", where, f->name);
	a->q->measured = f;
	a->q->query.measure = (struct measure){ .offset = f->offset, .size = f->size,
						.is_signed = f->is_signed, .group = f->group };
	return 0;
}

static bool number_next(const char **list, __s64 *n)
{
	char *end;

	if (**list != ':')
		return false;
	errno = 0;
	*n = strtoll(*list + 1, &end, 0);
	if (end == *list + 1 || errno || (*end && *end != ':'))
		return false;
	*list = end;
	return true;
}

/* "FIELD:LOW:HIGH:STEP"; the step may be left out: 1. */
static int lquantize_fill(struct asking *a, const char *where, const char *list)
{
	const char *rest = list + strcspn(list, ":");
	struct query *q = &a->q->query;
	char word[WORD_SIZE];
	__s64 range;

	snprintf(word, sizeof(word), "%.*s", (int)(rest - list), list);
	q->step = 1;
	if (!number_next(&rest, &q->low) || !number_next(&rest, &a->q->high) ||
	    (*rest && !number_next(&rest, &q->step)) || *rest)
		return error_set(a->e, -EINVAL,
				 a->d ? "lquantize(args[2]->ip_plength, 0, 1500, 100)" :
					"--lquantize ip_plength:0:1500:100",
				 "%s: \"%s\" is no field, low, high and step", where, list);
	if (q->step < 1 || __builtin_sub_overflow(a->q->high, q->low, &range) || range < 1)
		return error_set(a->e, -EINVAL, NULL,
				 "%s: from %lld to %lld by %lld is no range", where, q->low,
				 a->q->high, q->step);
	if (range % q->step)
		return error_set(a->e, -EINVAL, NULL,
				 "%s: from %lld to %lld are no whole steps of %lld", where, q->low,
				 a->q->high, q->step);
	if (range / q->step > LQUANTIZE_MOST)
		return error_set(a->e, -E2BIG, NULL, "%s: more than %u steps", where,
				 LQUANTIZE_MOST);
	q->slots = range / q->step + 2;
	return measure_fill(a, where, word);
}

static bool printed_already(const struct question *q, const struct field *f)
{
	for (unsigned i = 0; i < q->nr_printed; i++)
		if (q->printed[i] == f)
			return true;
	return false;
}

static int print_fill(struct asking *a, const char *where, const char *list)
{
	struct question *q = a->q;
	char word[WORD_SIZE];

	while (word_next(&list, word)) {
		const struct field *f = field_asked(a, where, word);

		if (!f)
			return -EINVAL;
		if (q->nr_printed == PRINTED_MOST)
			return error_set(a->e, -E2BIG, NULL, "%s: more than %u fields", where,
					 PRINTED_MOST);
		q->printed[q->nr_printed++] = f;
	}
	return 0;
}

/* The columns of each probe, once; as many as there is room for. */
static void print_default(struct question *q)
{
	bool many = q->probes & (q->probes - 1), timed = q->since || q->query.delta;
	char word[WORD_SIZE];

	if (many)
		q->printed[q->nr_printed++] = field_find("probename");
	if (timed)
		q->printed[q->nr_printed++] = field_find("delta_ns");
	for (int p = 0; p < NR_STABLE_PROBES; p++) {
		const char *list = probe_in(q->probes, p) ? stable_probes[p].columns : NULL;

		while (q->nr_printed < PRINTED_MOST && word_next(&list, word)) {
			const struct field *f = field_find(word);

			if (!printed_already(q, f))
				q->printed[q->nr_printed++] = f;
		}
	}
}

static int action_fill(struct asking *a, const struct posed *asked)
{
	const struct {
		enum aggregation aggregation;
		const char *option, *of;
	} actions[] = {
		{ AGG_COUNT, "count", asked->count ? "" : NULL },
		{ AGG_PRINT, "print", asked->print },
		{ AGG_SUM, "sum", asked->sum },
		{ AGG_MIN, "min", asked->min },
		{ AGG_MAX, "max", asked->max },
		{ AGG_AVG, "avg", asked->avg },
		{ AGG_QUANTIZE, "quantize", asked->quantize },
		{ AGG_LQUANTIZE, "lquantize", asked->lquantize },
	};
	struct query *q = &a->q->query;
	const char *option = NULL, *of = "";

	q->aggregation = asked->by ? AGG_COUNT : AGG_PRINT;
	for (unsigned i = 0; i < NR_OF(actions); i++) {
		if (!actions[i].of)
			continue;
		if (option)
			return error_set(a->e, -EINVAL, NULL, "--%s and --%s exclude each other",
					 option, actions[i].option);
		option = actions[i].option;
		of = actions[i].of;
		q->aggregation = actions[i].aggregation;
	}
	if (q->aggregation == AGG_PRINT && asked->by)
		return error_set(a->e, -EINVAL, NULL, "--by and --print exclude each other");
	if (q->aggregation == AGG_QUANTIZE)
		q->slots = QUANTIZE_SLOTS;
	if (q->aggregation == AGG_COUNT || (q->aggregation == AGG_PRINT && !option))
		return 0;
	if (q->aggregation == AGG_PRINT)
		return print_fill(a, label(a, option), of);
	if (q->aggregation == AGG_LQUANTIZE)
		return lquantize_fill(a, label(a, option), of);
	return measure_fill(a, label(a, option), of);
}

/* The groups by which programs know that an event is one of the probe. */
static __u64 tells(enum stable_probe p)
{
	switch (p) {
	case PROBE_arp_send:
	case PROBE_arp_receive:
		return 1ull << GROUP_ARP;
	case PROBE_icmp_send:
	case PROBE_icmp_receive:
		return 1ull << GROUP_ICMP;
	case PROBE_ip_send:
	case PROBE_ip_receive:
	case PROBE_ip_drop_in:
	case PROBE_ip_drop_out:
		return 1ull << GROUP_IP;
	case PROBE_tcp_send:
	case PROBE_tcp_receive:
	case PROBE_tcp_connect_request:
	case PROBE_tcp_accept_refused:
		return 1ull << GROUP_TCP;
	case PROBE_udp_send:
	case PROBE_udp_receive:
		return 1ull << GROUP_UDP;
	case PROBE_sctp_send:
	case PROBE_sctp_receive:
		return 1ull << GROUP_SCTP;
	default:
		return 0;
	}
}

static __u64 on_groups(const struct query *q)
{
	__u64 groups = 0;

	for (unsigned i = 0; i < q->nr_on; i++)
		groups |= 1ull << q->on[i].group;
	return groups;
}

/* Of everything that is asked of an event. */
static __u64 asked_groups(const struct question *q)
{
	__u64 groups = q->query.filter_need | on_groups(&q->query);

	for (unsigned i = 0; i < q->nr_keys; i++)
		groups |= 1ull << q->keys[i]->group;
	for (unsigned i = 0; i < q->nr_printed; i++)
		groups |= 1ull << q->printed[i]->group;
	return groups | (q->measured ? 1ull << q->measured->group : 0);
}

__u64 question_groups(const struct question *q, enum stable_probe p, bool begins)
{
	__u64 groups = begins ? on_groups(&q->query) : q->required;

	return groups & probe_groups(p) & ~(1ull << GROUP_BASE | 1ull << GROUP_SINCE);
}

int question_fill(struct asking *a, const struct posed *asked)
{
	struct question *q = a->q;
	int err;

	raw_forget();
	err = probes_asked(a, a->d ? "the probes" : "PROBE", asked->probes, &q->probes);

	q->source = asked->source;
	q->query.key_size = sizeof(__u64);
	err = err ?: times_fill(a, asked);
	if (!err && asked->where)
		err = condition_asked(a, label(a, "where"), asked->where);
	if (!err && asked->by)
		err = keys_fill(a, asked->by);
	err = err ?: action_fill(a, asked);
	if (err)
		return err;
	q->required = asked_groups(q);
	q->printed_asked = q->nr_printed;
	if (q->query.aggregation == AGG_PRINT && !q->nr_printed)
		print_default(q);
	q->query.need = asked_groups(q);
	err = asked->snaplen ? packets_ask(a, asked->snaplen) : 0;
	if (err)
		return err;
	for (int p = 0; p < NR_STABLE_PROBES; p++)
		if (probe_in(q->probes | q->since, p))
			q->query.need |= tells(p);
	return 0;
}

int question_ask(struct question *q, const struct posed *asked, struct error *e)
{
	struct asking a = { .q = q, .e = e };

	*q = (struct question){};
	return question_fill(&a, asked);
}
