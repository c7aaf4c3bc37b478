/* SPDX-License-Identifier: GPL-2.0 */
/* Sets of CPUs: parses lists and masks, writes lists. */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/proc/cpus.h"

void cpus_add(struct cpus *c, unsigned cpu)
{
	if (cpu < MAX_CPUS)
		c->bits[cpu / 64] |= 1ull << cpu % 64;
}

void cpus_add_all(struct cpus *c, const struct cpus *more)
{
	for (unsigned i = 0; i < MAX_CPUS / 64; i++)
		c->bits[i] |= more->bits[i];
}

bool cpus_has(const struct cpus *c, unsigned cpu)
{
	return cpu < MAX_CPUS && c->bits[cpu / 64] >> cpu % 64 & 1;
}

unsigned cpus_count(const struct cpus *c)
{
	return cpus_common(c, c);
}

unsigned cpus_common(const struct cpus *a, const struct cpus *b)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < MAX_CPUS / 64; i++)
		nr += __builtin_popcountll(a->bits[i] & b->bits[i]);
	return nr;
}

int cpus_next(const struct cpus *c, int cpu)
{
	for (cpu++; cpu < MAX_CPUS; cpu++) {
		__u64 rest = c->bits[cpu / 64] >> cpu % 64;

		if (rest)
			return cpu + __builtin_ctzll(rest);
		cpu |= 63;	/* the rest of this word is empty */
	}
	return -1;
}

bool cpus_same(const struct cpus *a, const struct cpus *b)
{
	return !memcmp(a, b, sizeof(*a));
}

bool cpus_shifted(const struct cpus *a, const struct cpus *b, int step)
{
	if (cpus_count(a) != cpus_count(b))
		return false;
	for (int cpu = -1; (cpu = cpus_next(a, cpu)) >= 0;)
		if (cpu + step < 0 || !cpus_has(b, cpu + step))
			return false;
	return true;
}

/* The file must end here; anything else invalidates it. */
static bool ended(struct cpus *c, const char *at)
{
	if (!*at || *at == '\n')
		return true;
	*c = (struct cpus){};
	return false;
}

bool cpus_from_list(struct cpus *c, const char *list)
{
	*c = (struct cpus){};
	while (isdigit((unsigned char)*list)) {
		char *at;
		unsigned long first = strtoul(list, &at, 10), last = first;

		if (*at == '-' && isdigit((unsigned char)at[1]))
			last = strtoul(at + 1, &at, 10);
		if (last >= MAX_CPUS || first > last || (*at && !strchr(",\n", *at)))
			return ended(c, "?");
		while (first <= last)
			cpus_add(c, first++);
		list = at + (*at == ',');
	}
	return ended(c, list);
}

/* Words of 32 bits, the last for CPUs 0 to 31; leading zeros of a word may be missing. */
bool cpus_from_mask(struct cpus *c, const char *mask)
{
	size_t len = strcspn(mask, "\n");
	unsigned cpu = 0, word = 0;

	*c = (struct cpus){};
	while (len--) {
		char digit[2] = { mask[len] };

		if (*digit == ',') {
			cpu = ++word * 32;
			continue;
		}
		if (!isxdigit((unsigned char)*digit) || cpu >= MAX_CPUS)
			return ended(c, "?");
		c->bits[cpu / 64] |= (__u64)strtoul(digit, NULL, 16) << cpu % 64;
		cpu += 4;
	}
	return true;
}

unsigned cpus_end(void)
{
	static unsigned end;		/* an attach asks for each map */
	struct cpus possible;
	char list[512] = "";
	int fd, nr = 0, cpu = -1;

	if (end)
		return end;
	fd = open("/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, list, sizeof(list) - 1) > 0 && cpus_from_list(&possible, list))
		while ((cpu = cpus_next(&possible, cpu)) >= 0)
			nr = cpu + 1;
	if (fd >= 0)
		close(fd);
	return end = nr ?: sysconf(_SC_NPROCESSORS_CONF);
}

char *cpus_text(const struct cpus *c, char *text, size_t size)
{
	size_t len = 0;

	*text = '\0';
	for (int first = -1, last; (first = cpus_next(c, first)) >= 0; first = last) {
		char part[32];
		int n;

		for (last = first; cpus_has(c, last + 1); last++)
			;
		n = snprintf(part, sizeof(part), first == last ? "%s%d" : "%s%d-%d",
			     len ? "," : "", first, last);
		/* leave room for "…" (three bytes), in case the next part does not fit */
		if (len + n + (cpus_next(c, last) < 0 ? 1 : 5) > size) {
			if (len + 5 <= size)
				strcpy(text + len, len ? ",…" : "…");
			return text;
		}
		len += sprintf(text + len, "%s", part);
	}
	return text;
}
