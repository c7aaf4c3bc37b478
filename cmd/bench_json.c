/* SPDX-License-Identifier: GPL-2.0 */
/* The outcome of a benchmark as JSON. */
#include <math.h>
#include <string.h>

#include "cmd/bench.h"
#include "lib/util/list.h"
#include "render/json_writer.h"

static const char *const kinds[] = {
	[ACCOUNT_SENT] = "sent", [ACCOUNT_LOST] = "lost", [ACCOUNT_ARRIVED] = "arrived",
	[ACCOUNT_UNEXPLAINED] = "unexplained",
};
ONE_EACH(kinds, NR_ACCOUNTS);

/* Figures per queue and per CPU ("queue 0 …") go into arrays, all others become keys. */
static void figures(struct json *j, const struct bench *b, const struct outcome *o)
{
	static struct result r;
	size_t name = strlen(o->scenario->name) + 1;

	r.nr = 0;
	outcome_figures(b, o, &r);
	for (int i = 0; i < r.nr; i++)
		if (!strchr(r.figure[i].name + name, ' '))
			json_double(j, r.figure[i].name + name, r.figure[i].value);
}

static void places(struct json *j, const char *key, const char *word, const uint64_t *packets,
		   unsigned nr)
{
	json_open(j, key, '[');
	for (unsigned i = 0; i < nr; i++) {
		if (!packets[i])
			continue;
		json_open(j, NULL, '{');
		json_uint(j, word, i);
		json_uint(j, "packets", packets[i]);
		json_close(j);
	}
	json_close(j);
}

static void account(struct json *j, const struct outcome *o)
{
	json_open(j, "account", '[');
	for (unsigned i = 0; i < o->lines; i++) {
		json_open(j, NULL, '{');
		json_string(j, "kind", kinds[o->account[i].kind]);
		json_uint(j, "stage", o->account[i].stage);
		json_string(j, "what", o->account[i].what);
		json_double(j, o->sockets ? "bytes" : "packets", o->account[i].packets);
		json_close(j);
	}
	json_close(j);
	json_open(j, "dropped", '[');
	for (unsigned i = 0; i < o->seen.drops; i++) {
		json_open(j, NULL, '{');
		json_string(j, "reason", o->seen.drop[i].reason);
		json_string(j, "location", o->seen.drop[i].where);
		json_uint(j, "packets", o->seen.drop[i].packets);
		json_close(j);
	}
	json_close(j);
}

static void why(struct json *j, const char *key, const char *text)
{
	if (*text)
		json_string(j, key, text);
}

static void absent(struct json *j, const struct bench *b, const struct outcome *o)
{
	json_open(j, "absent", '{');
	why(j, "pmu", b->pmus.why);
	why(j, "polls", o->seen.no_polls);
	why(j, "interrupts", o->seen.no_interrupts);
	why(j, "completion", o->seen.no_completions);
	json_close(j);
	json_open(j, "remarks", '[');
	for (int i = 0; i < REMARKS_MAX; i++)
		why(j, NULL, o->remark[i]);
	json_close(j);
}

static void outcome(struct json *j, const struct bench *b, const struct outcome *o)
{
	json_open(j, NULL, '{');
	json_string(j, "scenario", o->scenario->name);
	if (*o->cannot) {
		json_string(j, "cannot", o->cannot);
		json_close(j);
		return;
	}
	json_string(j, "by", o->how);
	json_string(j, "limit", o->limit);
	json_double(j, "seconds", o->seconds);
	json_uint(j, "packets", o->packets);
	json_uint(j, "bytes", o->bytes);
	figures(j, b, o);
	json_string(j, "queues_of", o->queues_of);
	places(j, "queues", "queue", o->places ? o->seen.queue : o->where.queue, TRAFFIC_QUEUES);
	places(j, "cpus", "cpu", o->places ? o->seen.cpu : o->where.cpu, TRAFFIC_CPUS);
	account(j, o);
	absent(j, b, o);
	json_close(j);
}

void bench_json(FILE *out, const struct bench *b)
{
	struct json j = { .out = out };

	json_open(&j, NULL, '{');
	json_uint(&j, "nicprobe", 1);
	json_string(&j, "interface", b->port.label);
	json_string(&j, "driver", b->port.iface.driver);
	if (b->has_peer)
		json_string(&j, "peer", b->peer.label);
	else
		json_null(&j, "peer");
	json_uint(&j, "size", b->load.frame.size);
	json_uint(&j, "flows", b->load.flows);
	json_uint(&j, "threads", b->load.threads);
	json_open(&j, "scenarios", '[');
	for (unsigned i = 0; i < b->outcomes; i++)
		outcome(&j, b, &b->outcome[i]);
	json_close(&j);
	json_close(&j);
	fputc('\n', out);
}
