/* SPDX-License-Identifier: GPL-2.0 */
/* Loads and attaches the shared object for the meters and points that were chosen. */
#ifndef NICPROBE_SET_H
#define NICPROBE_SET_H

#include "lib/attach/attach.h"
#include "lib/core/hook.h"

/* The first of meta->set[] that serves nobody, or -ENOSPC and a complaint. */
int set_free(const struct site *, const struct meta *, const char *label);

/*
 * Loads and attaches what meta->set[site->set] is to serve. If the kernel does not load all at
 * once, each user gets a set of its own, so that only who cannot be had is missing: noted in
 * `meta`, and an error if asked for by name. 0, or -errno and a complaint.
 */
int set_attach(const struct site *, const struct request *, struct meta *);

/* Removes what a change that was cut short left of sets that serve nobody. 0 or -errno. */
int set_sweep(const struct site *, const struct meta *);

/* Nobody of `bits` is served any more: ends programs that nobody wants, and stops the others. */
int set_leave(const struct site *, struct meta *, __u64 bits);

#endif
