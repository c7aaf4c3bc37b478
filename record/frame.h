/* SPDX-License-Identifier: GPL-2.0 */
/* A snapshot of an interface as a frame: whole, or what grew since the frame before; and back. */
#ifndef NICPROBE_RECORD_FRAME_H
#define NICPROBE_RECORD_FRAME_H

#include "lib/read/snapshot.h"
#include "record/names.h"
#include "record/sheet.h"

/* As of the last frame of one interface. Begins with {}; frame_forget(). */
struct frame_state {
	struct sheet *sheets;
	unsigned nr;
	uint64_t seq;		/* of the next frame */
	bool judged;		/* findings were made of the window that ends with it */
	struct findings told;
};

/*
 * The totals since attach, and the findings of the window since the frame before; NULL: it was not
 * judged. `full`: by itself, without those before. False: no memory.
 */
bool frame_put(struct bytes *, struct frame_state *, const struct snapshot *,
	       const struct findings *, bool full);

/* The next frame of a file with these names. False: damaged, or no memory. */
bool frame_take(struct frame_state *, const struct names *, struct reading_of *, bool full);
/* The totals that it has, added to a snapshot that has what about_take() knows. 0 or -errno. */
int frame_snapshot(const struct frame_state *, const struct names *, struct snapshot *);
/* What the file says of a key; NULL: nothing. */
const struct key_words *frame_words_of(const struct frame_state *, const struct names *,
				       const struct meter *, const void *key);

void frame_forget(struct frame_state *);

#endif
