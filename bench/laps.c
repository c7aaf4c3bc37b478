/* SPDX-License-Identifier: GPL-2.0 */
/* The laps of a measurement, and fixed work between them that tells who else uses the core. */
#include <stdio.h>
#include <string.h>

#include "bench.h"

#define LAP_MS	12
#define TURNS	100000	/* 0.1 ms */
#define COPIES	16	/* 0.06 ms */

static void compute(void)
{
	uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;

	for (unsigned int i = 0; i < TURNS; i++) {
		a = a * 3 + i;
		b ^= b + i;
		c += c << 1;
		d ^= d + i;
		e += i ^ e;
		f ^= f + e;
		__asm__ volatile("" :: "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f));
	}
}

static void copy(void)
{
	static char one[128 << 10], other[sizeof(one)];

	for (unsigned int i = 0; i < COPIES; i++) {
		memcpy(i % 2 ? one : other, i % 2 ? other : one, sizeof(one));
		__asm__ volatile("" ::: "memory");
	}
}

/*
 * Fixed work, in ns. It keeps several units of the core busy at once, and its cache, so that it
 * takes longer while the core's other thread works; a chain of dependent operations would not.
 */
static uint64_t work(void)
{
	struct span span = span_begin();

	compute();
	copy();
	return span_so_far(&span).wall;
}

static void begin(struct laps *l, uint64_t before)
{
	struct lap *lap = &l->lap[l->number++];

	*lap = (struct lap){ .work = before };
	l->span = span_begin();
}

void laps_begin(struct laps *l, unsigned int ms)
{
	l->number = 0;
	l->left = ms * 1000000ll;
	l->packets = l->bytes = 0;
	begin(l, work());
}

/* Ends a lap; returns what the work after it took. */
static uint64_t end(struct laps *l, uint64_t packets, uint64_t bytes)
{
	struct lap *lap = &l->lap[l->number - 1];
	uint64_t after;

	lap->span = span_so_far(&l->span);
	after = work();
	if (after > lap->work)
		lap->work = after;
	lap->packets = packets - l->packets;
	lap->bytes = bytes - l->bytes;
	l->packets = packets;
	l->bytes = bytes;
	l->left -= lap->span.wall;
	return after;
}

bool laps_more(struct laps *l, uint64_t packets, uint64_t bytes)
{
	uint64_t gone = span_so_far(&l->span).wall;

	if ((int64_t)gone >= l->left)
		return false;		/* laps_print() ends the last lap */
	if (gone >= LAP_MS * 1000000 && l->number < LAPS_MOST)
		begin(l, end(l, packets, bytes));
	return true;
}

static void figures(uint64_t packets, uint64_t bytes, const struct span *s)
{
	printf("\"packets\":%llu,\"bytes\":%llu,\"seconds\":%.6f,\"cpu\":%.6f",
	       (unsigned long long)packets, (unsigned long long)bytes, s->wall / 1e9, s->cpu / 1e9);
}

void laps_print(struct laps *l, uint64_t packets, uint64_t bytes)
{
	struct span all = {};

	end(l, packets, bytes);
	for (unsigned int i = 0; i < l->number; i++) {
		all.wall += l->lap[i].span.wall;
		all.cpu += l->lap[i].span.cpu;
	}
	putchar('{');
	figures(packets, bytes, &all);
	printf(",\"laps\":[");
	for (unsigned int i = 0; i < l->number; i++) {
		const struct lap *lap = &l->lap[i];

		printf("%s{\"work\":%llu,", i ? "," : "", (unsigned long long)lap->work);
		figures(lap->packets, lap->bytes, &lap->span);
		putchar('}');
	}
	puts("]}");
	fflush(stdout);
}
