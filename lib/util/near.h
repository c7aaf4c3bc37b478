/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the name that the user probably meant. */
#ifndef NICPROBE_NEAR_H
#define NICPROBE_NEAR_H

#define NEAR_SIZE 128		/* longer names never match */

struct near {
	const char *wanted;
	unsigned best;		/* edits from `wanted` to `name` */
	char name[NEAR_SIZE];	/* the nearest so far; "": none is near enough */
};

struct near near_to(const char *wanted);
void near_try(struct near *, const char *name);

#endif
