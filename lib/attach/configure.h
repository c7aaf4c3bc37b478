/* SPDX-License-Identifier: GPL-2.0 */
/* What the BPF programs must know of an interface, a request and this kernel: struct config. */
#ifndef NICPROBE_CONFIGURE_H
#define NICPROBE_CONFIGURE_H

#include "lib/attach/attach.h"
#include "lib/core/hook.h"

/* Fills site->driver and site->config of an interface that has been read. */
void site_configure(struct site *, const struct request *);

/*
 * The size of a hash table of packets with room for so many: log2 of it, 6 to `most`. BPF programs
 * take 32 - this from `config`: the shift that makes an index of a hash.
 */
unsigned table_bits(unsigned long long room, unsigned most);

/* Reads its queues, and what of them the programs must know. 0 or -errno. */
int site_queues(struct site *);

#endif
