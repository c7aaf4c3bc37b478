/* SPDX-License-Identifier: GPL-2.0 */
/* Writes what only the loader knows into the instructions of an object. */
#ifndef NICPROBE_TELL_H
#define NICPROBE_TELL_H

#include <stddef.h>

#include <linux/types.h>

#include "lib/core/abi.h"

/* 1 << METER_x of those whose rows the programs of an object use: ROWS_OF() in abi.h. */
__u64 tell_rows_used(const void *elf, size_t size);

/*
 * A copy of an object, with what its programs are to know in the place of the constants of abi.h.
 * `rows`: descriptors of maps whose one entry has all rows of a meter; -1: its constant stays, so
 * the verifier accepts no program that would use it. To be freed. NULL: out of memory.
 */
void *tell_object(const void *elf, size_t size, const struct config *, const int rows[NR_METERS]);

#endif
