/* SPDX-License-Identifier: GPL-2.0 */
/* Our filter among those of others on a clsact qdisc. */
#ifndef NICPROBE_CLSACT_H
#define NICPROBE_CLSACT_H

#include <stdbool.h>

struct site;

#define CLSACT_PROGRAM	"tc_program"	/* pin of the program: the filter is found by its id */
#define CLSACT_MADE	"tc_clsact"	/* pin that says: there was no clsact, it is ours */

/* Has the interface that qdisc, anyone's? */
bool clsact_exists(int ifindex);
/* Puts the filter first, making the qdisc where there is none. 0, or -errno and a complaint. */
int clsact_attach(const struct site *, int prog_fd);
/* Why our filter does not see all packets any more; NULL: it does. As text(). */
const char *clsact_blind(const struct site *);
/* Takes our filter away, and the qdisc if we made it and nobody else uses it. */
void clsact_detach(const struct site *);

#endif
