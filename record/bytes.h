/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers and texts as bytes, in as few as they need; and back, from input that may be damaged. */
#ifndef NICPROBE_RECORD_BYTES_H
#define NICPROBE_RECORD_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes being written. Begins with {}; free bytes. */
struct bytes {
	uint8_t *bytes;
	size_t nr, room;
	bool failed;		/* out of memory: what follows is not added */
};

void bytes_add(struct bytes *, const void *, size_t);
void bytes_uint(struct bytes *, uint64_t);	/* 7 bits a byte, the lowest first */
void bytes_int(struct bytes *, int64_t);	/* the sign in the lowest bit */
void bytes_double(struct bytes *, double);
void bytes_text(struct bytes *, const char *);	/* its length, then it */
void bytes_fixed(struct bytes *, uint64_t, unsigned size);	/* little endian */
void bytes_free(struct bytes *);

/* Bytes being read. What is not there reads as 0 or "", and sets `bad`. */
struct reading_of {
	const uint8_t *at, *end;
	bool bad;
};

uint64_t take_uint(struct reading_of *);
int64_t take_int(struct reading_of *);
double take_double(struct reading_of *);
/* Up to `size` - 1 bytes of it and a 0; longer texts are cut. */
void take_text(struct reading_of *, char *text, size_t size);
/* The text where it lies, which no 0 ends. */
const char *take_words(struct reading_of *, size_t *len);
const void *take_bytes(struct reading_of *, size_t size);	/* NULL: they are not there */
uint64_t fixed_at(const uint8_t *, unsigned size);
/* A number of things that take at least a byte each; more than there can be is `bad`, and 0. */
unsigned take_count(struct reading_of *);

#endif
