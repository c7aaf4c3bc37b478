/* SPDX-License-Identifier: GPL-2.0 */
/* What the BPF programs must know of an interface, a request and this kernel: struct config. */
#ifndef NICPROBE_CONFIGURE_H
#define NICPROBE_CONFIGURE_H

#include "lib/attach/attach.h"
#include "lib/core/hook.h"

/* Fills site->driver and site->config of an interface that has been read. */
void site_configure(struct site *, const struct request *);

/* Reads its queues, and what of them the programs must know. 0, or a complaint. */
int site_queues(struct site *);

#endif
