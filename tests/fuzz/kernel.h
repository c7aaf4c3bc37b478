/* SPDX-License-Identifier: GPL-2.0 */
/* A fake kernel for the fuzzer: maps, and the memory that helpers may read. */
#ifndef FUZZ_KERNEL_H
#define FUZZ_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets the size of a map that was declared with 1 or 0 entries, as attach does. */
void kernel_map_size(const void *map, unsigned int entries);
/* Empties all maps, and unmaps all memory. */
void kernel_reset(void);

/* Makes these bytes readable by bpf_probe_read_kernel(), too; nothing else is mapped. */
void kernel_mapped(const void *at, size_t size);
/* Was there a read outside of mapped memory? */
bool kernel_strayed(void);

/* Sets the packet, linear or not, for bpf_skb_load_bytes() and dynptrs, and its length for XDP. */
void kernel_packet(const void *at, size_t size, size_t len);

/* An array map's rows; NULL: never looked up. */
const void *kernel_rows(const void *map);
/* A hash map's only entry; NULL: none, or several. */
const void *kernel_entry(const void *map, const void **key);
unsigned int kernel_entries(const void *map);

#endif
