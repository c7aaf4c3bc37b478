/* SPDX-License-Identifier: GPL-2.0 */
/* Loads and attaches the shared object for the meters and points that were chosen. */
#ifndef NICPROBE_SET_H
#define NICPROBE_SET_H

#include "lib/attach/attach.h"
#include "lib/core/hook.h"

/* The index of the first free set in meta->set[], or -ENOSPC and an error. */
int set_free(const struct site *, const struct meta *, const char *label);

/*
 * Loads and attaches the programs for all users of meta->set[site->set]. If the kernel does not
 * load them at once, each user gets a set of its own, so that only the users that fail are missing:
 * noted in `meta`, and an error if they were requested by name. 0, or -errno and an error.
 */
int set_attach(const struct site *, const struct request *, struct meta *);

/* Removes what an interrupted change left of sets without users. 0 or -errno. */
int set_sweep(const struct site *, const struct meta *);

/* Removes the meters of `bits`: ends programs without users; the others skip these meters. */
int set_leave(const struct site *, struct meta *, __u64 bits);

#endif
