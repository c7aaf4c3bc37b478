/* SPDX-License-Identifier: GPL-2.0 */
/* Lists of constants, and what they have to match: a mismatch fails the build. */
#ifndef NICPROBE_LIST_H
#define NICPROBE_LIST_H

#define NR_OF(list) (sizeof(list) / sizeof(*(list)))

/* A list indexed by an enum must have `nr` elements: a new value needs one, too. */
#define ONE_EACH(list, nr) _Static_assert(NR_OF(list) == (nr), #list " must have " #nr " elements")

/* The list itself, in an initialiser. */
#define LIST_OF(list, nr) ((list) + 0 * sizeof(struct { ONE_EACH(list, nr); }))

#endif
