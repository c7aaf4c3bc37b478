/* SPDX-License-Identifier: GPL-2.0 */
/* Windows of an aggregation: their sum is what was gathered, whatever came between two readings. */
#include <stdlib.h>
#include <string.h>

#include "probes/reading.h"

#define SUBJECT "reading "
#include "check.h"

static struct question q = { .query = { .aggregation = AGG_SUM, .slots = 2, .key_size = 16 } };

static struct gathered row(char key, __u64 n, __s64 sum)
{
	struct gathered g = { .n = n, .sum = sum, .slot = calloc(2, sizeof(__u64)) };

	g.key.bytes[0] = key;
	g.slot[1] = n;
	return g;
}

int main(void)
{
	struct tracing_reading before = {};
	struct gathered *now = calloc(2, sizeof(*now));

	now[0] = row('a', 3, 30);
	now[1] = row('b', 2, 50);
	holds(reading_grown(&q, now, 2, &before) == 2, "the first reading has all of it");
	holds(now[0].key.bytes[0] == 'b' && now[0].sum == 50 && now[1].n == 3, "as it was, sorted");
	gathered_free(now, 2);

	now = calloc(3, sizeof(*now));
	now[0] = row('a', 3, 30);
	now[1] = row('b', 4, 56);
	now[2] = row('c', 1, 9);
	holds(reading_grown(&q, now, 3, &before) == 2, "what did not grow does not count");
	holds(now[0].key.bytes[0] == 'c' && now[0].n == 1 && now[0].sum == 9, "a new key");
	holds(now[1].key.bytes[0] == 'b' && now[1].n == 2 && now[1].sum == 6 && now[1].slot[1] == 2,
	      "one that grew");
	holds(before.nr == 3 && before.rows[1].n == 4 && before.rows[1].slot[1] == 4 &&
	      before.rows[1].slot != now[1].slot, "the next one is compared with the whole of it");
	gathered_free(now, 3);
	gathered_free(before.rows, before.nr);
	return failed > 0;
}
