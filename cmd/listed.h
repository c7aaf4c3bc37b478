/* SPDX-License-Identifier: GPL-2.0 */
/* What one interface that is attached has counted, in a line: for nicprobe list. */
#ifndef NICPROBE_LISTED_H
#define NICPROBE_LISTED_H

#include "cmd/cmd.h"

struct json;
struct page;

struct listed {
	char *dir;			/* of its pins */
	struct meta meta;
	char label[96], state[320];
	bool read;			/* its figures are there */
	struct snapshot s;		/* of the window, where there is one; else since attach */
};

/* Its figures as they are now. */
void listed_take(struct listed *);
/* The window from then until now, and what is wrong in it. */
void listed_window(struct listed *);
void listed_print(struct page *, const struct listed *);
void listed_json(struct json *, const struct listed *);

#endif
