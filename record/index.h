/* SPDX-License-Identifier: GPL-2.0 */
/* Where in a recording is what: found by one pass over the heads of its blocks. */
#ifndef NICPROBE_RECORD_INDEX_H
#define NICPROBE_RECORD_INDEX_H

#include "record/block.h"
#include "record/frame.h"
#include "record/recording.h"

#define NO_BLOCK	(~0u)

struct index_frame {
	unsigned block;		/* among the blocks of the index */
	unsigned full;		/* the place of the full frame that it rests on */
	unsigned run;
};

struct index_iface {
	char name[96];
	unsigned nr;
	struct index_frame *frames;
	/* The frame that `state` has; -1: none. */
	int at;
	struct frame_state state;
	struct bytes frame;	/* its body: the next one is packed with it */
	unsigned names_at;	/* block of `names`, by which it was read */
	struct names names;
};

struct index {
	unsigned nr_blocks;
	struct file_block *blocks;
	unsigned *names_of, *about_of;	/* of each: the blocks of its names, its interface */
	unsigned nr;
	struct index_iface *ifaces;
	unsigned nr_events;
	struct recorded_event *events;
	unsigned runs;
	struct run_about about;		/* of the last run */
	unsigned lost_frames;		/* that rest on what is damaged */
	uint64_t damaged, cut;		/* bytes: in the midst, and at the end */
};

/* Adds the blocks of a file; of several, the earlier first. 0 or -ENOMEM. */
int index_file(struct index *, const uint8_t *file, size_t size);
void index_free(struct index *);

#endif
