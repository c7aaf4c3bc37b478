/* SPDX-License-Identifier: GPL-2.0 */
/* Interfaces that share programs: lib/core/host.h. All functions want pins_lock(). */
#ifndef NICPROBE_SLOTS_H
#define NICPROBE_SLOTS_H

#include <stdbool.h>

#include "lib/core/hook.h"
#include "lib/core/host.h"

struct bpf_program;

/* A function below failed for what all interfaces share: its error says why. */
#define HOST_UNUSABLE	ENOTRECOVERABLE

/* The index of a program by its name; -1: interfaces do not share it. */
int shared_program(const char *name);

/* The path of a pin that interfaces share, as text(); "": their directory. */
const char *host_path(const char *name);

/*
 * Takes a slot, and sets config.slot and config.entered before the programs of the interface are
 * loaded. The slot is 0 where it cannot share. `wanders`: its programs look at packets of other
 * devices too, so it only shares the programs that are attached first; `wants` tells which it has.
 * 0 or -HOST_UNUSABLE and an error.
 */
int host_join(struct site *, bool wanders, bool (*wants)(const char *program, const void *),
	      const void *arg);

/* The pin of a map that interfaces share, as text(); NULL: it is no such map. */
const char *host_pin(const char *map);

/*
 * Attaches a loaded program, or enters it to be called, and pins it. 0; or -errno, -HOST_UNUSABLE
 * where it is not for this program, and an error.
 */
int host_attach(const struct site *, const struct bpf_program *, int next);

/* From now on events of the interface are passed on to it. 0 or -HOST_UNUSABLE and an error. */
int host_begin(const struct site *);

/* Ends shared programs of an interface: `which`, 1 << SHARED_x. 0 or -errno and an error. */
int host_end(const struct site *, __u64 which);

/* As host_sweep(); then ends all, and gives the slot back, if it has one. The same is returned. */
int host_leave(const struct site *);

/* Puts right what an interrupted change left; ends the programs of directories that are gone. */
int host_sweep(struct error *);

/*
 * Events that the kernel did not show to the shared programs since this interface has them; `pins`
 * is the directory of its pins. False, and 0 events: it shares none.
 */
bool host_missed(const char *pins, __u64 missed[NR_SHARED]);

#endif
