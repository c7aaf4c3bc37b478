/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the name that the user probably meant: the fewest edits away, if they are few. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "lib/util/near.h"

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Insertion, deletion, replacement or swap of a letter is one edit; case is ignored. */
static unsigned distance(const char *a, const char *b)
{
	unsigned d[NEAR_SIZE][NEAR_SIZE];
	unsigned la = strlen(a), lb = strlen(b), x, y;

	for (x = 0; x <= la; x++)
		d[x][0] = x;
	for (y = 0; y <= lb; y++)
		d[0][y] = y;
	for (x = 1; x <= la; x++) {
		for (y = 1; y <= lb; y++) {
			d[x][y] = least(d[x - 1][y], d[x][y - 1]) + 1;
			d[x][y] = least(d[x][y], d[x - 1][y - 1] + !same(a[x - 1], b[y - 1]));
			if (x > 1 && y > 1 && same(a[x - 1], b[y - 2]) && same(a[x - 2], b[y - 1]))
				d[x][y] = least(d[x][y], d[x - 2][y - 2] + 1);
		}
	}
	return d[la][lb];
}

struct near near_to(const char *wanted)
{
	/* One edit, plus one for every third letter after the third: "lo" is not near "eth0". */
	size_t len = strlen(wanted);

	return (struct near){ .wanted = wanted, .best = len < 6 ? 2 : len / 3 + 1 };
}

void near_try(struct near *n, const char *name)
{
	unsigned d;

	if (strlen(name) >= NEAR_SIZE || strlen(n->wanted) >= NEAR_SIZE)
		return;
	d = distance(n->wanted, name);
	if (d >= n->best || d >= strlen(name))
		return;
	n->best = d;
	strcpy(n->name, name);
}
