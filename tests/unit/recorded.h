/* SPDX-License-Identifier: GPL-2.0 */
/* An interface that a recording is made of: begin() it, and a second() changes its figures. */
#ifndef NICPROBE_TESTS_RECORDED_H
#define NICPROBE_TESTS_RECORDED_H

#include <stdlib.h>

#include "bpf/counters/counters.h"
#include "bpf/drop/drop.h"
#include "drawn.h"
#include "findings/subjects.h"
#include "lib/util/error.h"
#include "record/recorder.h"

#define FRAMES	150

static unsigned below(unsigned n)
{
	return rand() % n;
}

/* Counters of some cells grow; a quarter of the rows is left alone. */
static void grow_some(struct snapshot *s)
{
	for (int id = 0; id < NR_METERS; id++) {
		struct table *t = &s->tables[id];

		for (unsigned row = 0; t->cells && row < t->rows; row++)
			for (unsigned i = 0; i < t->cpus * t->words && below(4); i++)
				row_words(t, row, 0)[i] += below(3) ? 0 : below(1 << below(20));
		s->lost[id] += !below(10);
	}
}

static void key_add(struct snapshot *s, enum meter_id id, const void *key)
{
	struct table *t = &s->tables[id];

	for (unsigned row = 0; row < t->rows; row++)
		if (!memcmp(t->keys + row * meters[id]->key.size, key, meters[id]->key.size))
			return;
	*table_add(t, meters[id], key) = 1 + below(1000);
}

/* Keys come, of few that there can be; and now and then one goes. */
static void keys_change(struct snapshot *s)
{
	struct table *t = &s->tables[METER_ecn_source];
	struct ecn_source_key source = { .address = { 10, 0, 0, below(40) } };
	struct counters_key counter = {};
	struct drop_key drop = { .location = below(5), .reason = 2 + below(20), .stack = -1 };

	snprintf(counter.source, sizeof(counter.source), "nstat");
	snprintf(counter.counter, sizeof(counter.counter), "Counter%u", below(20));
	key_add(s, METER_ecn_source, &source);
	key_add(s, METER_counters, &counter);
	key_add(s, METER_drop, &drop);
	if (t->rows > 3 && !below(4))
		t->rows--;
	for (int id = 0; id < NR_METERS; id++)
		if (s->tables[id].keys && s->tables[id].cells)
			table_sort(meters[id], &s->tables[id], NULL);
}

static struct snapshot *begin(const char *name)
{
	struct snapshot *s = snapshot(name, "tun", 3, 0);

	s->tables[METER_ecn_source].rows = 0;
	for (enum meter_id id = 0; id < NR_METERS; id++)
		if (id == METER_napi || id == METER_qdisc || id == METER_gso ||
		    id == METER_bql || id == METER_counters || id == METER_drop)
			table_on(s, id, 0);
	s->wanted = s->meta.on;
	s->meta.magic = META_MAGIC;
	strcpy(s->meta.absent[METER_irq], "software device: no hardware interrupts");
	strcpy(s->blind[RX_NIC], "another program takes its packets");
	s->online = 4;
	return s;
}

/* The next second: of the counts, the clocks, and the link. */
static void second(struct snapshot *s, unsigned nr)
{
	s->when.tv_sec++;
	s->boot_ns += 1000000000 + below(1000);
	s->mono_ns = s->boot_ns - 5;
	s->seconds = (s->boot_ns - s->meta.since) * 1e-9;
	grow_some(s);
	keys_change(s);
	for (int id = 0; id < NR_METERS; id++) {
		struct table *t = &s->tables[id];

		if (!t->cells)
			continue;
		t->when = s->boot_ns - below(1000000);
		t->seconds = (t->when - s->meta.since) * 1e-9;
	}
	s->missed += below(2);
	s->missed_point[RX_NIC] = s->missed;
	if (nr == FRAMES / 2)
		strcpy(s->state, "eth0 is called eth1 now");
}

static void found(struct findings *f, unsigned nr)
{
	struct finding *one;

	*f = (struct findings){};
	if (nr % 3 == 2)
		return;
	one = finding_add(f, kind_find("backlog-full"), nr % 5, "%u packets found no buffer", nr);
	finding_harm(one, nr);
	finding_fact(one, "packets", nr, "packets");
	finding_fix(one, "ethtool", "-G", "eth0", "rx", "4096");
	finding_changes(one, "RX ring of 256 to 4096");
	one = finding_add(f, kind_find("qdisc-drops"), -1, "the qdisc dropped %u packets", nr * nr);
	finding_advise(one, "more room, or less to send");
	findings_order(f);
}

/* A recording of one frame a second at this path; `ring`: its seconds, 0: all. */
static inline struct recorder *to_file(const char *path, double ring)
{
	struct recorder_how how = { path, 1, ring };
	struct error e = {};
	uint64_t had, cut;
	struct recorder *r = recorder_open(&how, &had, &cut, &e);

	if (!must(r, "a recording is begun", e.what))
		exit(1);
	return r;
}

#endif
