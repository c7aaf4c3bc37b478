/* SPDX-License-Identifier: GPL-2.0 */
/* Views: questions to probes that have a name, and are kept in text files. */
#ifndef NICPROBE_VIEWS_H
#define NICPROBE_VIEWS_H

#include <stdbool.h>
#include <stdio.h>

#include "cmd/words.h"

struct command;
struct error;
struct page;

/*
 * The words of the command line that a view stands for, its name without the "@". Lines that begin
 * with "#" explain it; words may be quoted as in a shell. NULL and an error. They last as long as
 * the process.
 */
char **view_words(const char *name, int *nr, struct error *);
/*
 * Takes the options of a view as those of the command, and its probe, if it has one. What the user
 * adds is taken after them, and wins. False: exit with *status.
 */
bool view_take(const struct command *, const char *name, void *to, const char **probes,
	       int *status);
/* Every view, or one, with the question that it answers; `verbose`: as its file has it. */
int views_print(struct page *, const char *name, bool verbose, struct error *);
int views_json(FILE *, const char *name, struct error *);	/* the same; "": every view */
void views_each(word_fn *tell, void *arg);		/* "@name" */

#endif
