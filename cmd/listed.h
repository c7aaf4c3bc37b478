/* SPDX-License-Identifier: GPL-2.0 */
/* A one-line summary of an attached interface, for nicprobe list. */
#ifndef NICPROBE_LISTED_H
#define NICPROBE_LISTED_H

#include "cmd/cmd.h"

struct json;
struct page;

struct listed {
	char *dir;			/* directory of its pins */
	struct meta meta;
	char label[96], state[320];
	bool read;			/* the snapshot could be taken */
	struct snapshot s;		/* of the window, if any; otherwise since attach */
};

/* Take a snapshot now. */
void listed_take(struct listed *);
/* End the window that began with listed_take(): its counts and findings. */
void listed_window(struct listed *);
void listed_print(struct page *, const struct listed *);
void listed_json(struct json *, const struct listed *);

#endif
