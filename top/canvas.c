/* SPDX-License-Identifier: GPL-2.0 */
/* A screen as a grid of cells, which no terminal is needed for. */
#include <stdlib.h>
#include <string.h>

#include "render/text.h"
#include "top/canvas.h"

bool canvas_make(struct canvas *c, unsigned width, unsigned height)
{
	*c = (struct canvas){ width, height, NULL };
	c->cells = calloc((size_t)width * height + 1, sizeof(*c->cells));
	if (!c->cells) {
		c->width = c->height = 0;
		return false;
	}
	for (size_t i = 0; i < (size_t)width * height; i++)
		c->cells[i].c = ' ';
	return true;
}

void canvas_free(struct canvas *c)
{
	free(c->cells);
	*c = (struct canvas){};
}

/* "ESC [ n m": what the style is from now on. Returns what is behind it. */
static const char *style_change(const char *s, unsigned *style)
{
	static const struct { int code; unsigned bit; } known[] = {
		{ 1, CELL_BOLD }, { 2, CELL_DIM }, { 7, CELL_REVERSE }, { 31, CELL_RED },
		{ 33, CELL_YELLOW }, { 32, CELL_GREEN }, { 36, CELL_CYAN },
	};
	char *end;
	int code = strtol(s + 2, &end, 10);

	if (!code)
		*style = 0;
	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].code == code)
			*style |= known[i].bit;
	return *end == 'm' ? end + 1 : end;
}

static bool put(struct canvas *c, unsigned x, unsigned y, uint32_t ch, unsigned wide,
		unsigned style)
{
	struct canvas_cell *cell = c->cells + (size_t)y * c->width + x;

	if (x + wide > c->width)
		return false;
	*cell = (struct canvas_cell){ ch, style };
	if (wide > 1)
		cell[1] = (struct canvas_cell){ 0, style };
	return true;
}

unsigned canvas_put(struct canvas *c, unsigned x, unsigned y, const char *text, unsigned style)
{
	unsigned now = 0;

	if (y >= c->height)
		return x;
	while (*text) {
		const char *from = text;
		char one[8];
		uint32_t ch;
		unsigned wide;

		if (!strncmp(text, "\033[", 2)) {
			text = style_change(text, &now);
			continue;
		}
		ch = utf8_next(&text);
		snprintf(one, sizeof(one), "%.*s", (int)(text - from), from);
		wide = text_columns(one);
		if (ch < ' ' || ch == 0x7f)
			ch = '?';
		if (!put(c, x, y, ch, wide, now | style))
			break;
		x += wide;
	}
	return x;
}

void canvas_line(struct canvas *c, unsigned y, unsigned style)
{
	for (unsigned x = 0; y < c->height && x < c->width; x++)
		c->cells[(size_t)y * c->width + x].style |= style;
}

static void utf8_put(uint32_t c, FILE *out)
{
	if (c < 0x80) {
		fputc(c, out);
	} else if (c < 0x800) {
		fprintf(out, "%c%c", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		fprintf(out, "%c%c%c", 0xe0 | c >> 12, 0x80 | (c >> 6 & 0x3f), 0x80 | (c & 0x3f));
	} else {
		fprintf(out, "%c%c%c%c", 0xf0 | c >> 18, 0x80 | (c >> 12 & 0x3f),
			0x80 | (c >> 6 & 0x3f), 0x80 | (c & 0x3f));
	}
}

void canvas_print(const struct canvas *c, FILE *out)
{
	for (unsigned y = 0; y < c->height; y++) {
		const struct canvas_cell *line = c->cells + (size_t)y * c->width;
		unsigned end = c->width;

		while (end && line[end - 1].c == ' ')
			end--;
		for (unsigned x = 0; x < end; x++)
			if (line[x].c)
				utf8_put(line[x].c, out);
		fputc('\n', out);
	}
}
