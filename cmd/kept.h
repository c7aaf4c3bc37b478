/* SPDX-License-Identifier: GPL-2.0 */
/* What a `nicprobe record` keeps: its interfaces, from frame to frame. */
#ifndef NICPROBE_CMD_KEPT_H
#define NICPROBE_CMD_KEPT_H

#include "cmd/show.h"
#include "record/recorder.h"

struct kept_iface;

struct kept {
	struct recorder_how how;
	struct recorder *to;
	struct view view;	/* the directories of those that were named */
	bool all;		/* none was named: whatever is attached */
	unsigned nr;
	struct kept_iface *ifaces;
	uint64_t begun, frames;
	int64_t ahead;		/* CLOCK_REALTIME, of CLOCK_BOOTTIME, ns */
	int broken;		/* what went wrong when the file was written, and was said */
	bool last;		/* the frame that comes is the last */
	bool shown;		/* a line of progress is on the terminal */
};

/* The operands that name interfaces, and whether a command may attach some. 0 or -errno. */
int kept_open(struct kept *, char **names, bool later, struct error *);
int kept_frame(struct kept *, struct error *);	/* of each; 0 or -errno: recording cannot go on */
bool kept_any(const struct kept *);		/* has it a frame? */
void kept_progress(struct kept *);
void kept_progress_end(struct kept *);
void kept_tell(const struct kept *);		/* what was recorded */
void kept_close(struct kept *);

#endif
