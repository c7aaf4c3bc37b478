/* SPDX-License-Identifier: GPL-2.0 */
/* Chooses and attaches a hook for each point that packet meters look at. */
#ifndef NICPROBE_POINTS_H
#define NICPROBE_POINTS_H

#include "lib/attach/attach.h"
#include "lib/core/hook.h"

/* 1 << enum point of those that the packet meters among `meters_on` look at. */
unsigned points_of(__u64 meters_on);

/*
 * Attaches a hook for each point that the meters in meta->on look at and that has none yet. Notes
 * its method, or why there is none. 0 or -errno.
 */
int points_attach(const struct site *, const struct request *, struct meta *);

/* 0; or -errno and an error: attaching must end, as a signal came or a resource is short. */
int attach_stopped(const struct site *);

/* Adds "not HOOK: why" to the note of a point. */
void note_hook(char *to, size_t size, const char *hook, const char *why);

/* Writes a note where there is none yet. */
void note_once(char *to, size_t size, const char *why);

#endif
