/* SPDX-License-Identifier: GPL-2.0 */
/* What a question has gathered: keys and figures of all CPUs, events, and what was lost. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/util/error.h"
#include "lib/util/grow.h"
#include "probes/tracing.h"

static size_t value_size(const struct query *q)
{
	return sizeof(struct aggregate) + q->slots * sizeof(__u64);
}

/* Adds what one CPU has. */
static void cpu_add(struct gathered *g, const struct aggregate *a, unsigned slots)
{
	__s64 least = INT64_MAX - (__s64)a->below, most = (__s64)(a->above + (__u64)INT64_MIN);

	if (!a->n)
		return;
	if (!g->n || least < g->min)
		g->min = least;
	if (!g->n || most > g->max)
		g->max = most;
	g->n += a->n;
	g->sum += a->sum;
	for (unsigned i = 0; i < slots; i++)
		g->slot[i] += a->slot[i];
}

/* Adds the rows of all CPUs that the map has under `key`. */
static int row_add(int fd, const void *key, int cpus, void *values, const struct query *q,
		   struct gathered *g)
{
	size_t size = value_size(q);

	if (bpf_map_lookup_elem(fd, key, values))
		return -errno;
	for (int cpu = 0; cpu < cpus; cpu++)
		cpu_add(g, (const void *)((const char *)values + cpu * size), q->slots);
	return 0;
}

static int row_begin(struct gathered *g, const struct query *q)
{
	memset(g, 0, sizeof(*g));
	g->slot = calloc(q->slots ?: 1, sizeof(*g->slot));
	return g->slot ? 0 : -ENOMEM;
}

double gathered_figure(const struct question *q, const struct gathered *g)
{
	switch (q->query.aggregation) {
	case AGG_SUM:
		return g->sum;
	case AGG_MIN:
		return g->min;
	case AGG_MAX:
		return g->max;
	case AGG_AVG:
		return g->n ? (double)g->sum / g->n : 0;
	default:
		return g->n;
	}
}

static const struct question *sorted_for;

/* The greatest first; equal ones by key, so that two readings have one order. */
static int order(const void *a, const void *b)
{
	double x = gathered_figure(sorted_for, a), y = gathered_figure(sorted_for, b);

	if (x != y)
		return x < y ? 1 : -1;
	return memcmp(&((const struct gathered *)a)->key, &((const struct gathered *)b)->key,
		      sizeof(struct query_key));
}

static int by_key(const void *a, const void *b)
{
	return memcmp(&((const struct gathered *)a)->key, &((const struct gathered *)b)->key,
		      sizeof(struct query_key));
}

static void add(struct gathered *to, const struct gathered *from, unsigned slots)
{
	if (from->n && (!to->n || from->min < to->min))
		to->min = from->min;
	if (from->n && (!to->n || from->max > to->max))
		to->max = from->max;
	to->n += from->n;
	to->sum += from->sum;
	for (unsigned i = 0; i < slots; i++)
		to->slot[i] += from->slot[i];
}

/* Adds up the rows that differ only in the place of the event. Their number then. */
static int places_merge(struct gathered *all, int nr, unsigned slots)
{
	int kept = 0;

	if (nr)
		qsort(all, nr, sizeof(*all), by_key);
	for (int i = 0; i < nr; i++) {
		if (kept && !by_key(&all[kept - 1], &all[i])) {
			add(&all[kept - 1], &all[i], slots);
			free(all[i].slot);
		} else {
			all[kept++] = all[i];
		}
	}
	return kept;
}

/* Without keys: one row, if there were events. */
static int alone_read(const struct tracing *t, int cpus, void *values, struct gathered **all)
{
	const struct query *q = &t->question->query;
	int fd = bpf_map__fd(t->skel->maps.alone), err = 0;
	struct gathered *g = calloc(1, sizeof(*g));

	*all = g;
	if (!g || row_begin(g, q))
		return -ENOMEM;
	for (__u32 i = 0; !err && i < bpf_map__max_entries(t->skel->maps.alone); i++)
		err = row_add(fd, &i, cpus, values, q, g);
	return err ?: g->n > 0;
}

/* What is behind the end of a name, as a rename leaves it, makes no other key. */
static void names_end(const struct question *q, struct query_key *k)
{
	for (unsigned i = 0; i < q->nr_keys; i++) {
		char *name = (char *)k->bytes + q->query.part[i].at;
		size_t len = strnlen(name, q->keys[i]->size);

		if (q->keys[i]->format == FORMAT_STRING)
			memset(name + len, 0, q->keys[i]->size - len);
	}
}

static int keys_read(const struct tracing *t, int cpus, void *values, struct gathered **all)
{
	const struct query *q = &t->question->query;
	int fd = bpf_map__fd(t->skel->maps.aggregates), nr = 0, err = 0;
	char key[sizeof(struct query_key)], *before = NULL;

	while (!err && !bpf_map_get_next_key(fd, before, key)) {
		struct gathered *list = grow(*all, nr, sizeof(*list));

		if (list)
			*all = list;
		err = list ? row_begin(&list[nr], q) : -ENOMEM;
		if (err)
			break;
		memcpy(&list[nr].key, key, q->key_size);
		list[nr].key.absent &= (1ull << KEY_PLACE) - 1;
		names_end(t->question, &list[nr].key);
		err = row_add(fd, key, cpus, values, q, &list[nr++]);
		before = key;
	}
	if (!err)
		return places_merge(*all, nr, q->slots);
	gathered_free(*all, nr);
	*all = NULL;
	return err;
}

int tracing_read(const struct tracing *t, struct gathered **all)
{
	int cpus = libbpf_num_possible_cpus(), nr;
	void *values = calloc(cpus, value_size(&t->question->query));

	*all = NULL;
	if (!values)
		return -ENOMEM;
	nr = t->question->query.nr_parts ? keys_read(t, cpus, values, all) :
					   alone_read(t, cpus, values, all);
	free(values);
	sorted_for = t->question;
	if (nr > 0)
		qsort(*all, nr, sizeof(**all), order);
	return nr;
}

void gathered_free(struct gathered *all, int nr)
{
	for (int i = 0; i < nr; i++)
		free(all[i].slot);
	free(all);
}

static int on_event(void *arg, void *data, size_t size)
{
	struct tracing *t = arg;

	if (size >= sizeof(struct probe_event) && t->tell)
		t->tell(data, t->arg);
	return 0;
}

int ring_open(struct tracing *t, struct error *e)
{
	t->ring = ring_buffer__new(bpf_map__fd(t->skel->maps.ring), on_event, t, NULL);
	return t->ring ? 0 : error_set(e, -errno, NULL, "cannot read events: %s",
				       strerror(errno));
}

/* Until there are changes of links, or something at `fd`. */
static void wait_for(struct tracing *t, int fd, int ms)
{
	struct pollfd fds[] = {
		{ .fd = fd, .events = POLLIN },		/* -1: it is passed over */
		{ .fd = t->links ? links_fd(t) : -1, .events = POLLIN },
	};

	poll(fds, 2, ms);
	if (t->links)
		links_read(t);
}

void tracing_wait(struct tracing *t, int ms)
{
	wait_for(t, -1, ms);
}

int tracing_poll(struct tracing *t, int ms, void (*tell)(const struct probe_event *, void *),
		 void *arg)
{
	int nr;

	t->tell = tell;
	t->arg = arg;
	if (t->links) {
		wait_for(t, ring_buffer__epoll_fd(t->ring), ms);
		ms = 0;
	}
	nr = ring_buffer__poll(t->ring, ms);
	return nr < 0 ? nr : 0;
}

static __u64 missed(int prog)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	return bpf_obj_get_info_by_fd(prog, &info, &len) ? 0 : info.recursion_misses;
}

void tracing_losses(const struct tracing *t, __u64 losses[NR_LOSSES + 1])
{
	int fd = bpf_map__fd(t->skel->maps.lost), cpus = libbpf_num_possible_cpus();
	__u64 *values = calloc(cpus, sizeof(*values));
	struct bpf_program *prog;

	for (__u32 which = 0; which < NR_LOSSES; which++) {
		losses[which] = 0;
		if (values && !bpf_map_lookup_elem(fd, &which, values))
			for (int cpu = 0; cpu < cpus; cpu++)
				losses[which] += values[cpu];
	}
	losses[LOST_MISSED] = 0;
	bpf_object__for_each_program(prog, t->skel->obj)
		if (bpf_program__autoload(prog))
			losses[LOST_MISSED] += missed(bpf_program__fd(prog));
	for (unsigned i = 0; i < t->nr_copies; i++)
		losses[LOST_MISSED] += missed(t->copies[i]);
	free(values);
}
