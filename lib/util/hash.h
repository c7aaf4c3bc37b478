/* SPDX-License-Identifier: GPL-2.0 */
/* Where a text has its place in a table. */
#ifndef NICPROBE_HASH_H
#define NICPROBE_HASH_H

/* FNV-1a, folded: its high bits are the better ones. */
static inline unsigned text_hash(const char *text)
{
	unsigned h = 2166136261;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619;
	return h ^ h >> 16;
}

#endif
