/* SPDX-License-Identifier: GPL-2.0 */
/* Descriptors that an object needs from when it is opened until it is loaded. */
#ifndef NICPROBE_PENDING_H
#define NICPROBE_PENDING_H

#include <stdbool.h>

struct bpf_object;

/* It is closed by pending_close(). False: there is no room, and it is the caller's still. */
bool pending_add(const struct bpf_object *, int fd);
/* The object is loaded, or will not be. */
void pending_close(const struct bpf_object *);

#endif
