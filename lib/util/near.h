/* SPDX-License-Identifier: GPL-2.0 */
/* Which of the names there are did the user mean? */
#ifndef NICPROBE_NEAR_H
#define NICPROBE_NEAR_H

#define NEAR_SIZE 128		/* longer names are near to nothing */

struct near {
	const char *wanted;
	unsigned best;		/* edits from `wanted` to `name` */
	char name[NEAR_SIZE];	/* the nearest so far; "": none is near */
};

struct near near_to(const char *wanted);
void near_try(struct near *, const char *name);

#endif
