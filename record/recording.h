/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads a recording: its interfaces, the times of their frames, a snapshot of any of these, and
 * what happened between. Whoever shows a recording goes through here.
 */
#ifndef NICPROBE_RECORD_RECORDING_H
#define NICPROBE_RECORD_RECORDING_H

#include "lib/read/snapshot.h"
#include "record/run.h"

struct recording;

/*
 * Opens FILE, and what --ring kept before it (FILE.old). 0, or -errno and a sentence. Parts that
 * cannot be read are left out: recording_damage() says so. Only one is open at a time: keys of
 * its snapshots are called as in the recording.
 */
int recording_open(struct recording **, const char *path, struct error *);
void recording_close(struct recording *);

const struct run_about *recording_about(const struct recording *);	/* its last run */
/* A sentence about what could not be read; "": all was. */
const char *recording_damage(const struct recording *);

/* Its interfaces, by label ("eth0", "blue/eth0"), in the order in which they came. */
unsigned recording_ifaces(const struct recording *);
const char *recording_iface(const struct recording *, unsigned iface);

/*
 * The frames of an interface, in the order in which they were written; times are ns of
 * CLOCK_REALTIME: where the clock was set back, the next frame has an earlier one.
 */
unsigned recording_frames(const struct recording *, unsigned iface);
uint64_t recording_when(const struct recording *, unsigned iface, unsigned frame);
/* Its place among all frames and events, in the order in which they were written. */
unsigned recording_place(const struct recording *, unsigned iface, unsigned frame);
/* The last frame that is no later than `when`; of a time that came twice, the last. -1: none. */
int recording_at(const struct recording *, unsigned iface, uint64_t when);
/* The first frame from which on to this one nothing is missing: a window may begin there. */
unsigned recording_joined(const struct recording *, unsigned iface, unsigned frame);

/*
 * The totals since attach at a frame, as snapshot_read() would have given them, and the findings
 * of the window that ends there. 0, or -errno and a sentence; snapshot_free() in any case.
 */
int recording_snapshot(struct recording *, unsigned iface, unsigned frame, struct snapshot *,
		       struct error *);
/*
 * The window between two frames, by snapshot_diff(): with the findings of the frames in it, each
 * where it cost most. `total`: what the later frame has; NULL: nobody asks. -EXDEV and a sentence:
 * it was attached anew, or the recording was interrupted, between the two.
 */
int recording_window(struct recording *, unsigned iface, unsigned from, unsigned to,
		     struct snapshot *window, struct snapshot *total, struct error *);

/* What was found in the frames after `from`, up to `to`, each where it cost most. 0 or -errno. */
int recording_found(struct recording *, unsigned iface, unsigned from, unsigned to,
		    struct findings *);

struct recorded_event {
	uint64_t when;
	unsigned place;		/* as recording_place() */
	char iface[96];		/* ""; it is about none */
	char kind[32];		/* "finding", "setting", "clock", "gone", … */
	char what[400];		/* a sentence */
};
unsigned recording_events(const struct recording *);
const struct recorded_event *recording_event(const struct recording *, unsigned nr);

#endif
