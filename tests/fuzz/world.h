/* SPDX-License-Identifier: GPL-2.0 */
/* A fake kernel for the fuzzer's readers, which answers with pieces of the input. */
#ifndef FUZZ_WORLD_H
#define FUZZ_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rest of the input; every answer consumes some. */
void world_begin(const uint8_t *data, size_t size, bool netlink);
/* Resets the clock and forgets all processes; call before world_begin(). */
void machine_begin(void);
/* Takes up to this many bytes, followed by a zero; free() them. */
char *world_take(size_t most, size_t *size);
/* Takes a number; 0: the input is used up. */
unsigned world_number(unsigned bytes);
/* Takes a piece: its length (at most 65535), then its bytes. */
char *world_piece(size_t *size);
/* A file with the input as its content, as /proc/self/fd/N; close the fd. */
int world_file(const void *data, size_t size, char path[32]);

#endif
