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
#include "lib/attach/pins.h"
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

static uint64_t *row_at(const struct table *t, const struct asker_key *key)
{
	for (unsigned row = 0; row < t->rows; row++)
		if (!memcmp(t->keys + row * sizeof(*key), key, sizeof(*key)))
			return t->cells + (size_t)row * t->words;
	return NULL;
}

/* The row of a question, else that of the others; NULL: it came after the rows were read. */
static uint64_t *row_of(const struct table *t, const struct roundtrip *of,
			const struct roundtrip_state *asked)
{
	struct asker_key key = { .remote = of->server }, others = {};

	memcpy(key.comm, asked->comm, sizeof(key.comm));
	return row_at(t, &key) ?: row_at(t, &others);
}

#define BATCH 1024

int roundtrips_waiting(const char *pins, const char *map, struct table *t, unsigned word)
{
	struct roundtrip *questions = malloc(BATCH * sizeof(*questions));
	struct roundtrip_state *asked = malloc(BATCH * sizeof(*asked));
	int fd = pin_read(text("%s/%s", pins, map)), err = 0;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	__u32 from, nr, *before = NULL;

	while (questions && asked && fd >= 0 && !err) {
		nr = BATCH;
		err = bpf_map_lookup_batch(fd, before, &from, questions, asked, &nr, NULL);
		before = &from;
		for (__u32 i = 0; i < nr && (!err || errno == ENOENT); i++) {
			uint64_t ago = now - asked[i].since;
			uint64_t *row = !asked[i].answered && ago >= UNANSWERED_FROM &&
					ago < UNANSWERED_TO ?
					row_of(t, &questions[i], &asked[i]) : NULL;

			if (row)
				row[word]++;
		}
	}
	if (fd >= 0)
		close(fd);
	free(questions);
	free(asked);
	return 0;
}
