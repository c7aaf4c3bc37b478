/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers and texts as bytes, in as few as they need; and back, from input that may be damaged. */
#include <stdlib.h>
#include <string.h>

#include "record/bytes.h"

#define UINT_BYTES	10	/* of a number, at most */

/* Is there room for so many more? */
static bool has_room(struct bytes *b, size_t size)
{
	size_t room = 2 * (b->nr + size);
	uint8_t *all;

	if (b->failed || b->nr + size <= b->room)
		return !b->failed;
	all = realloc(b->bytes, room);
	if (!all) {
		b->failed = true;
		return false;
	}
	b->bytes = all;
	b->room = room;
	return true;
}

void bytes_add(struct bytes *b, const void *more, size_t size)
{
	if (!size || !has_room(b, size))
		return;
	memcpy(b->bytes + b->nr, more, size);
	b->nr += size;
}

void bytes_uint(struct bytes *b, uint64_t x)
{
	if (!has_room(b, UINT_BYTES))
		return;
	for (; x > 0x7f; x >>= 7)
		b->bytes[b->nr++] = x | 0x80;
	b->bytes[b->nr++] = x;
}

void bytes_int(struct bytes *b, int64_t x)
{
	bytes_uint(b, (uint64_t)x << 1 ^ (x < 0 ? ~0ull : 0));
}

void bytes_fixed(struct bytes *b, uint64_t x, unsigned size)
{
	uint8_t out[8];

	for (unsigned i = 0; i < size; i++)
		out[i] = x >> 8 * i;
	bytes_add(b, out, size);
}

void bytes_double(struct bytes *b, double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	bytes_fixed(b, bits, sizeof(bits));
}

void bytes_text(struct bytes *b, const char *text)
{
	size_t len = strlen(text);

	bytes_uint(b, len);
	bytes_add(b, text, len);
}

void bytes_free(struct bytes *b)
{
	free(b->bytes);
	*b = (struct bytes){};
}

uint64_t take_uint(struct reading_of *r)
{
	uint64_t x = 0;

	for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
		uint8_t byte = *r->at++;

		x |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return x;
	}
	r->bad = true;
	return 0;
}

int64_t take_int(struct reading_of *r)
{
	uint64_t x = take_uint(r);

	return (int64_t)(x >> 1 ^ (0 - (x & 1)));
}

const void *take_bytes(struct reading_of *r, size_t size)
{
	const uint8_t *from = r->at;

	if (size > (size_t)(r->end - r->at)) {
		r->bad = true;
		r->at = r->end;
		return NULL;
	}
	r->at += size;
	return from;
}

uint64_t fixed_at(const uint8_t *at, unsigned size)
{
	uint64_t x = 0;

	for (unsigned i = 0; i < size; i++)
		x |= (uint64_t)at[i] << 8 * i;
	return x;
}

double take_double(struct reading_of *r)
{
	const uint8_t *from = take_bytes(r, 8);
	uint64_t bits = from ? fixed_at(from, 8) : 0;
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

const char *take_words(struct reading_of *r, size_t *len)
{
	const char *words;

	*len = take_uint(r);
	words = take_bytes(r, *len);
	if (!words)
		*len = 0;
	return words ?: "";
}

void take_text(struct reading_of *r, char *text, size_t size)
{
	size_t len;
	const char *words = take_words(r, &len);

	if (len >= size)
		len = size - 1;
	memcpy(text, words, len);
	text[len] = '\0';
}

unsigned take_count(struct reading_of *r)
{
	uint64_t nr = take_uint(r);

	if (nr <= (uint64_t)(r->end - r->at))
		return nr;
	r->bad = true;
	return 0;
}
