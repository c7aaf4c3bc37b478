/* SPDX-License-Identifier: GPL-2.0 */
/* The blocks of a recording, each with its checksum; docs/record.md has the format. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "record/block.h"

#define WORTH_PACKING	64	/* bytes */
/*
 * A long body repeats itself: the fastest level, without the body before, takes a quarter of the
 * time of level 6 with it, and an eighth more room. A short one is packed as well as can be.
 */
#define LONG		4096	/* bytes */
#define LEVEL_LONG	1
#define LEVEL_SHORT	6

static const uint8_t mark[4] = { 0x8e, 'n', 'p', 'r' };

/* The polynomial of Castagnoli, reflected. */
static void table_fill(uint32_t table[256])
{
	for (unsigned i = 0; i < 256; i++) {
		uint32_t x = i;

		for (int bit = 0; bit < 8; bit++)
			x = x >> 1 ^ (x & 1 ? 0x82f63b78 : 0);
		table[i] = x;
	}
}

uint32_t crc32c(const void *data, size_t size)
{
	static uint32_t table[256];
	const uint8_t *at = data;
	uint32_t crc = ~0u;

	if (!table[1])
		table_fill(table);
	while (size--)
		crc = crc >> 8 ^ table[(crc ^ *at++) & 0xff];
	return ~crc;
}

static bool is_long(const struct bytes *body)
{
	return body->nr >= LONG;
}

/* False: it does not become shorter. */
static bool pack(struct bytes *to, const struct bytes *body, const struct bytes *before)
{
	z_stream z = { .next_in = body->bytes, .avail_in = body->nr };
	bool good;

	if (body->nr < WORTH_PACKING ||
	    deflateInit(&z, is_long(body) ? LEVEL_LONG : LEVEL_SHORT) != Z_OK)
		return false;
	to->room = body->nr;
	to->bytes = malloc(to->room);
	z.next_out = to->bytes;
	z.avail_out = to->room;
	good = to->bytes &&
	       (!before || deflateSetDictionary(&z, before->bytes, before->nr) == Z_OK) &&
	       deflate(&z, Z_FINISH) == Z_STREAM_END;
	to->nr = z.total_out;
	deflateEnd(&z);
	return good;
}

void block_add(struct bytes *to, enum block_type type, unsigned iface, uint64_t when,
	       const struct bytes *body, const struct bytes *before)
{
	const struct bytes *first = is_long(body) ? NULL : before;
	struct bytes small = {};
	bool packed = pack(&small, body, first);
	const struct bytes *what = packed ? &small : body;
	size_t from = to->nr;

	to->failed |= body->failed;
	bytes_add(to, mark, sizeof(mark));
	bytes_fixed(to, type, 1);
	bytes_fixed(to, !packed ? NOT_PACKED : first ? PACKED_AFTER : PACKED, 1);
	bytes_fixed(to, iface, 2);
	bytes_fixed(to, what->nr, 4);
	bytes_fixed(to, when, 8);
	bytes_add(to, what->bytes, what->nr);
	if (!to->failed)
		bytes_fixed(to, crc32c(to->bytes + from, to->nr - from), BLOCK_TAIL);
	bytes_free(&small);
}

bool block_at(const uint8_t *file, size_t size, size_t at, struct file_block *b)
{
	const uint8_t *head = file + at;

	if (at > size || size - at < BLOCK_HEAD + BLOCK_TAIL || memcmp(head, mark, sizeof(mark)))
		return false;
	*b = (struct file_block){
		.type = head[4], .packed = head[5], .iface = fixed_at(head + 6, 2),
		.len = fixed_at(head + 8, 4), .when = fixed_at(head + 12, 8),
		.body = head + BLOCK_HEAD,
	};
	b->size = BLOCK_HEAD + b->len + BLOCK_TAIL;
	if (b->len > BLOCK_MOST || b->packed > PACKED_AFTER || b->size > size - at)
		return false;
	return crc32c(head, BLOCK_HEAD + b->len) == fixed_at(b->body + b->len, BLOCK_TAIL);
}

size_t block_find(const uint8_t *file, size_t size, size_t at)
{
	struct file_block b;

	while (at < size) {
		const uint8_t *next = memmem(file + at, size - at, mark, sizeof(mark));

		if (!next)
			break;
		at = next - file;
		if (block_at(file, size, at, &b))
			return at;
		at++;
	}
	return size;
}

bool block_body(const struct file_block *b, struct bytes *room, const struct bytes *before,
		struct reading_of *r)
{
	z_stream z = { .next_in = (void *)b->body, .avail_in = b->len };
	int err = Z_OK;

	*r = (struct reading_of){ b->body, b->body + b->len, false };
	if (!b->packed)
		return true;
	if (inflateInit(&z) != Z_OK)
		return false;
	for (room->nr = 0; err == Z_OK; room->nr = z.total_out) {
		if (room->nr + 4096 > room->room) {
			size_t more = room->room ? 2 * room->room : 65536;
			void *all = more <= 2 * BLOCK_MOST ? realloc(room->bytes, more) : NULL;

			if (!all)
				break;
			room->bytes = all;
			room->room = more;
		}
		z.next_out = room->bytes + room->nr;
		z.avail_out = room->room - room->nr;
		err = inflate(&z, Z_NO_FLUSH);
		if (err == Z_NEED_DICT && b->packed == PACKED_AFTER && before && before->nr &&
		    inflateSetDictionary(&z, before->bytes, before->nr) == Z_OK)
			err = inflate(&z, Z_NO_FLUSH);
		if (err == Z_OK && !z.avail_in && z.avail_out)
			break;
	}
	inflateEnd(&z);
	*r = (struct reading_of){ room->bytes, room->bytes + room->nr, false };
	return err == Z_STREAM_END;
}
