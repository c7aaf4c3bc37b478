/* SPDX-License-Identifier: GPL-2.0 */
/* Text for terminals: widths in columns, wrapping, and neutralised control characters. */
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

struct grid;

/* Output with a maximum width, and the present column. */
struct page {
	FILE *out;
	const struct look *look;
	unsigned width, at;
	unsigned gap;		/* pending spaces, written before text: avoids trailing spaces */
	/* Takes tables, which are then not printed, with all their columns; NULL: they are */
	void (*table)(struct page *, const struct grid *);
	void *table_of;		/* for whoever takes them */
};

#define UTF8_BAD 0xfffd		/* U+FFFD, returned for each byte that is not UTF-8 */

/* Return the next code point and advance `s`; 0: the end. */
uint32_t utf8_next(const char **s);
unsigned text_columns(const char *s);
/* The number of leading bytes that are printable ASCII, at most `most`. */
unsigned text_plain(const char *s, unsigned most);

/*
 * Write `s` for use between quotes, with a backslash before each quote and backslash. `other` may
 * write any other character in its own form (then it returns true), including UTF8_BAD.
 */
void text_escape(FILE *out, const char *s, bool (*other)(FILE *out, uint32_t c));

/* Write all of `s` to a plain stream, with '?' for characters that page_put() would replace. */
void text_harmless(FILE *out, const char *s, bool utf8);

#define NUMBER_SIZE 24
/* The decimal digits; the result points into `room`. */
const char *text_number(char room[NUMBER_SIZE], uint64_t n);

void page_style(struct page *, const char *style);	/* until the next page_style() */
void page_spaces(struct page *, unsigned nr);
/* Put at most `columns` of `s`, never past the width; a mark shows that it was cut. */
void page_put(struct page *, const char *s, unsigned columns);
/* Put all of `s` in a style. */
void page_styled(struct page *, const char *style, const char *s);
/* Begin a section: an empty line, its name and what it shows. */
void page_section(struct page *, const char *name, const char *what);
/* Put `s` with line breaks between words; continuation lines begin at `indent`. */
void page_wrap(struct page *, unsigned indent, const char *s);
void page_newline(struct page *);

/* Put a line: a name, and from `column` on a text, wrapped within its column. */
void page_line(struct page *, unsigned indent, const char *name, unsigned column,
	       const char *what);
/* Put a sentence on a line of its own; continuation lines are indented by two more. */
void page_remark(struct page *, unsigned indent, const char *what);
void page_dim(struct page *, unsigned indent, const char *what);	/* a dim line */
void page_end(struct page *);		/* ends a line if one was begun… */
void page_end_dim(struct page *);	/* …in dim style */
/* Spaces up to a column, one at least. */
void page_to(struct page *, unsigned column);

#endif
