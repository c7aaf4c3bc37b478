/* SPDX-License-Identifier: GPL-2.0 */
/* Views: questions to probes that have a name, and are kept in text files. */
#ifndef NICPROBE_VIEWS_H
#define NICPROBE_VIEWS_H

#include <stdbool.h>
#include <stdio.h>

#include "cmd/words.h"

struct error;
struct page;

/*
 * The words of the command line that a view stands for, its name without the "@". Lines that begin
 * with "#" explain it; words may be quoted as in a shell. NULL and an error. They last as long as
 * the process.
 */
char **view_words(const char *name, int *nr, struct error *);
/* Every view, or one, with the question that it answers; `verbose`: as its file has it. */
int views_print(struct page *, const char *name, bool verbose, struct error *);
int views_json(FILE *, const char *name, struct error *);	/* the same; "": every view */
void views_each(word_fn *tell, void *arg);		/* "@name" */

#endif
