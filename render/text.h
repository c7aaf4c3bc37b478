/* SPDX-License-Identifier: GPL-2.0 */
/* Text as a terminal shows it: columns, not bytes; and nothing in a name can move the cursor. */
#ifndef NICPROBE_RENDER_TEXT_H
#define NICPROBE_RENDER_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "render/render.h"

#define STYLE_PLAIN	""
#define STYLE_DIM	"2"
#define STYLE_BOLD	"1"
#define STYLE_YELLOW	"33"
#define STYLE_RED	"31"

/* A line to write to: how wide it may be, and how far it has come. */
struct page {
	FILE *out;
	const struct look *look;
	unsigned width, at;
	unsigned gap;		/* spaces to write once something follows: no line ends with them */
};

#define UTF8_BAD 0xfffd		/* U+FFFD stands for each byte that is not UTF-8 */

/* The next code point, and past it; 0: the end. */
uint32_t utf8_next(const char **s);
unsigned text_columns(const char *s);
/* How many bytes of it, at most so many, are ASCII that can be shown. */
unsigned text_plain(const char *s, unsigned most);

/*
 * Writes it for between quotes: a backslash before each quote and backslash, `other` what else is
 * not for there as it is (true: written), UTF8_BAD among it.
 */
void text_escape(FILE *out, const char *s, bool (*other)(FILE *out, uint32_t c));

/* All of it, '?' for what page_put() would not show: for what is no page. */
void text_harmless(FILE *out, const char *s, bool utf8);

#define NUMBER_SIZE 24
/* Its digits, somewhere in `room`. */
const char *text_number(char room[NUMBER_SIZE], uint64_t n);

void page_style(struct page *, const char *style);	/* until page_style(STYLE_PLAIN) */
void page_spaces(struct page *, unsigned nr);
/* At most `columns` of it, then a mark that there was more; never past the width. */
void page_put(struct page *, const char *s, unsigned columns);
/* Word by word; further lines begin at `indent`. */
void page_wrap(struct page *, unsigned indent, const char *s);
void page_newline(struct page *);

/* A name, and from `column` on what there is to say, wrapped under its beginning. */
void page_line(struct page *, unsigned indent, const char *name, unsigned column,
	       const char *what);
/* A sentence; further lines of it are two further in. */
void page_remark(struct page *, unsigned indent, const char *what);
void page_dim(struct page *, unsigned indent, const char *what);	/* a line of less weight */

#endif
