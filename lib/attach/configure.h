/* SPDX-License-Identifier: GPL-2.0 */
/* What the BPF programs must know of an interface, a request and this kernel: struct config. */
#ifndef NICPROBE_CONFIGURE_H
#define NICPROBE_CONFIGURE_H

#include "lib/attach/attach.h"
#include "lib/core/hook.h"

/* Fills site->driver and site->config of an interface that has been read. */
void site_configure(struct site *, const struct request *);

/* What two copies of a program need to tell which of them counts: bpf/common/again.bpf.h. */
void config_levels(struct config *);

/*
 * log2 of the size of a hash table with room for so many packets: 6 to `most`. `config` has 32
 * minus this: the shift by which BPF programs turn a hash into an index.
 */
unsigned table_bits(unsigned long long room, unsigned most);

/* Reads the queues of the interface, and tells `config` about them. 0 or -errno. */
int site_queues(struct site *);

#endif
