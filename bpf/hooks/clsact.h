/* SPDX-License-Identifier: GPL-2.0 */
/* Our filter among others on a clsact qdisc. */
#ifndef NICPROBE_CLSACT_H
#define NICPROBE_CLSACT_H

#include <stdbool.h>

struct site;

#define CLSACT_PROGRAM	"tc_program"	/* pin of the program: the filter is found by its id */
#define CLSACT_MADE	"tc_clsact"	/* this pin says that we created the clsact qdisc */

/* Does the interface have a clsact qdisc, whoever created it? */
bool clsact_exists(int ifindex);
/* Inserts our filter first; creates the qdisc if needed. 0, or -errno with an error message. */
int clsact_attach(const struct site *, int prog_fd);
/* Why our filter no longer sees all packets; NULL: it does. As text(). */
const char *clsact_blind(const struct site *);
/* Removes our filter, and the qdisc if we created it and nobody else uses it. */
void clsact_detach(const struct site *);

#endif
