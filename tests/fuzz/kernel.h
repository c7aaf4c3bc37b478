/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel of the fuzzer: maps, and the memory that helpers may read. */
#ifndef FUZZ_KERNEL_H
#define FUZZ_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Says how many entries a map has, as attach does; for those that were declared with 1 or less. */
void kernel_map_size(const void *map, unsigned int entries);
/* All maps empty, no memory to read. */
void kernel_reset(void);

/* From here on bpf_probe_read_kernel() can read these bytes, too; all else is not mapped. */
void kernel_mapped(const void *at, size_t size);
/* Was a read tried outside? */
bool kernel_strayed(void);

/* The packet, linear or not, for bpf_skb_load_bytes() and dynptrs; its length for XDP. */
void kernel_packet(const void *at, size_t size, size_t len);

/* An array map's rows; NULL: it was never looked up. */
const void *kernel_rows(const void *map);
/* A hash map's only entry; NULL: it has none, or several. */
const void *kernel_entry(const void *map, const void **key);
unsigned int kernel_entries(const void *map);

#endif
