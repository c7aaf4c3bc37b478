/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel that the readers of the fuzzer ask: it answers with what the fuzzer makes up. */
#ifndef FUZZ_WORLD_H
#define FUZZ_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is left of the input: every answer takes some of it. */
void world_begin(const uint8_t *data, size_t size, bool netlink);
/* The clock back to 0, and nothing known of processes; before world_begin(). */
void machine_begin(void);
/* So many bytes of it, fewer where no more are left, with a zero behind; free() it. */
char *world_take(size_t most, size_t *size);
/* A number of it; 0: none is left. */
unsigned world_number(unsigned bytes);
/* A piece as long as the number before it says, of at most 65535. */
char *world_piece(size_t *size);
/* A file with the input as its content, as /proc/self/fd/N; close the fd. */
int world_file(const void *data, size_t size, char path[32]);

#endif
