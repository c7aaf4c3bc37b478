/* SPDX-License-Identifier: GPL-2.0 */
/* Questions that were sent: who asks whom, and those that have no answer. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "bpf/host/roundtrip.h"
#include "lib/attach/pinned.h"
#include "lib/read/snapshot.h"
#include "lib/util/clock.h"
#include "lib/util/log.h"

enum label { REMOTE, PROCESS };
const char *const asker_labels[] = { "remote", "process", NULL };

void asker_text(const void *of, unsigned nr, char *out, size_t size)
{
	static const struct remote none;
	const struct asker_key *key = of;

	switch ((enum label)nr) {
	case REMOTE:
		remote_text(&key->remote, out, size);
		break;
	case PROCESS:
		if (memcmp(&key->remote, &none, sizeof(none)))
			comm_text(key->comm, out, size);
		else
			snprintf(out, size, "-");
	}
}

/* The rows of a table, to be found by their key. */
struct key_index {
	const struct table *t;
	size_t size;			/* of a key */
	unsigned *rows;			/* their numbers, in the order of their keys */
};

static const void *index_key(const struct key_index *x, unsigned row)
{
	return x->t->keys + row * x->size;
}

static int index_order(const void *a, const void *b, void *arg)
{
	return memcmp(index_key(arg, *(const unsigned *)a), index_key(arg, *(const unsigned *)b),
		      ((struct key_index *)arg)->size);
}

/* Most often there is nothing to be found, so it is made when it is needed. */
static bool index_make(struct key_index *x)
{
	if (x->rows)
		return true;
	x->rows = malloc((x->t->rows ?: 1) * sizeof(*x->rows));
	if (!x->rows)
		return false;
	for (unsigned row = 0; row < x->t->rows; row++)
		x->rows[row] = row;
	qsort_r(x->rows, x->t->rows, sizeof(*x->rows), index_order, x);
	return true;
}

static uint64_t *row_at(const struct key_index *x, const void *key)
{
	unsigned from = 0, end = x->t->rows;

	while (from < end) {
		unsigned at = (from + end) / 2;
		int order = memcmp(key, index_key(x, x->rows[at]), x->size);

		if (!order)
			return x->t->cells + (size_t)x->rows[at] * x->t->words;
		if (order < 0)
			end = at;
		else
			from = at + 1;
	}
	return NULL;
}

static bool asker_key_of(const struct roundtrip *of, const struct roundtrip_state *asked, void *to)
{
	struct asker_key key = { .remote = of->server };

	memcpy(key.comm, asked->comm, sizeof(key.comm));
	memcpy(to, &key, sizeof(key));
	return true;
}

/* NULL: it came after the rows were read. */
static uint64_t *row_of(struct key_index *x, const struct roundtrip *of,
			const struct roundtrip_state *asked, roundtrip_key_of *key_of)
{
	char key[x->size];
	bool others = key_of(of, asked, key);
	uint64_t *row;

	if (!index_make(x))
		return NULL;
	row = row_at(x, key);
	if (row || !others)
		return row;
	memset(key, 0, x->size);
	return row_at(x, key);
}

static bool waits(const struct roundtrip_state *asked, uint64_t now)
{
	uint64_t ago = now - asked->since;

	return !asked->answered && ago >= UNANSWERED_FROM && ago < UNANSWERED_TO;
}

#define BATCH 1024

int roundtrips_waiting_by(const char *pins, const char *map, struct table *t, unsigned word,
			  const struct roundtrip_kind *kind)
{
	struct roundtrip *questions = malloc(BATCH * sizeof(*questions));
	struct key_index index = { .t = t, .size = kind->key_size };
	char *states = malloc(BATCH * kind->state_size);
	struct pinned_map open = pin_read(text("%s/%s", pins, map));
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	__u32 from, nr, *before = NULL;
	int err = 0;

	while (questions && states && open.fd >= 0 && !err) {
		nr = BATCH;
		err = bpf_map_lookup_batch(open.fd, before, &from, questions, states, &nr, NULL);
		before = &from;
		for (__u32 i = 0; i < nr && (!err || errno == ENOENT); i++) {
			const struct roundtrip_state *asked =
				(const void *)(states + i * kind->state_size);
			uint64_t *row = waits(asked, now) ?
					row_of(&index, &questions[i], asked, kind->key_of) : NULL;

			if (row)
				row[word]++;
		}
	}
	pin_close(&open);
	free(questions);
	free(states);
	free(index.rows);
	return 0;
}

int roundtrips_waiting(const char *pins, const char *map, struct table *t, unsigned word)
{
	static const struct roundtrip_kind kind = {
		.state_size = sizeof(struct roundtrip_state),
		.key_size = sizeof(struct asker_key),
		.key_of = asker_key_of,
	};

	return roundtrips_waiting_by(pins, map, t, word, &kind);
}
