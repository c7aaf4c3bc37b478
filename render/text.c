/* SPDX-License-Identifier: GPL-2.0 */
/* Text for terminals: widths in columns, wrapping, and neutralised control characters. */
#include <string.h>

#include "render/text.h"

struct range {
	uint32_t from, to;
};

static bool within(uint32_t c, const struct range *list, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		if (c >= list[i].from && c <= list[i].to)
			return true;
	return false;
}

uint32_t utf8_next(const char **s)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)*s;
	unsigned more = *p < 0xc0 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : *p < 0xf8 ? 3 : 4;
	uint32_t c = more ? *p & (0x3f >> more) : *p;

	if (!*p)
		return 0;
	++*s;
	if (*p >= 0x80 && (!more || more == 4))
		return UTF8_BAD;
	for (unsigned i = 1; i <= more; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return UTF8_BAD;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return UTF8_BAD;
	*s += more;
	return c;
}

/* Fast path: printable ASCII, one harmless column each. */
unsigned text_plain(const char *s, unsigned most)
{
	unsigned nr = 0;

	while (nr < most && s[nr] >= ' ' && s[nr] <= '~')
		nr++;
	return nr;
}

void text_escape(FILE *out, const char *s, bool (*other)(FILE *out, uint32_t c))
{
	for (const char *from = s; *from; from = s) {
		unsigned plain = text_plain(s, strcspn(s, "\"\\"));
		uint32_t c;

		if (plain) {
			fwrite(s, 1, plain, out);
			s += plain;
			continue;
		}
		c = utf8_next(&s);
		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", (char)c);
		else if (!other(out, c))
			fwrite(from, 1, s - from, out);
	}
}

const char *text_number(char room[NUMBER_SIZE], uint64_t n)
{
	unsigned at = NUMBER_SIZE - 1;

	room[at] = '\0';
	do
		room[--at] = '0' + n % 10;
	while (n /= 10);
	return &room[at];
}

static unsigned columns_of(uint32_t c)
{
	static const struct range wide[] = {
		{ 0x1100, 0x115f }, { 0x2e80, 0xa4cf }, { 0xac00, 0xd7a3 }, { 0xf900, 0xfaff },
		{ 0xfe30, 0xfe6f }, { 0xff00, 0xff60 }, { 0xffe0, 0xffe6 }, { 0x1f300, 0x1faff },
		{ 0x20000, 0x3fffd },
	};

	return 1 + within(c, wide, sizeof(wide) / sizeof(*wide));
}

unsigned text_columns(const char *s)
{
	unsigned nr = text_plain(s, -1);

	s += nr;
	for (uint32_t c; (c = utf8_next(&s));)
		nr += columns_of(c);
	return nr;
}

/* Control characters, combining characters, and changes of writing direction. */
static bool harmful(uint32_t c)
{
	static const struct range list[] = {
		{ 0, 0x1f }, { 0x7f, 0x9f }, { 0x300, 0x36f }, { 0x200b, 0x200f },
		{ 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff },
		{ UTF8_BAD, UTF8_BAD }, { 0xe0000, 0x10ffff },
	};

	return within(c, list, sizeof(list) / sizeof(*list));
}

void text_harmless(FILE *out, const char *s, bool utf8)
{
	for (const char *from = s; *from; from = s) {
		uint32_t c = utf8_next(&s);

		if (harmful(c) || (c >= 0x80 && !utf8))
			fputc('?', out);
		else
			fwrite(from, 1, s - from, out);
	}
}

void page_style(struct page *p, const char *style)
{
	if (p->look->colour)
		fprintf(p->out, "\033[%sm", *style ? style : "0");
}

void page_spaces(struct page *p, unsigned nr)
{
	if (p->at + nr > p->width)
		nr = p->at < p->width ? p->width - p->at : 0;
	p->gap += nr;
	p->at += nr;
}

void page_put(struct page *p, const char *s, unsigned columns)
{
	unsigned left = p->at < p->width ? p->width - p->at : 0;
	bool cut;

	if (columns > left)
		columns = left;
	cut = text_columns(s) > columns;
	if (columns && *s) {
		for (; p->gap; p->gap--)
			putc_unlocked(' ', p->out);
	}
	while (columns) {
		unsigned wide = text_plain(s, columns - cut);
		const char *from = s;
		uint32_t c;

		if (wide) {
			fwrite(s, 1, wide, p->out);
			s += wide;
			columns -= wide;
			p->at += wide;
			continue;
		}
		c = utf8_next(&s);

		if (!c)
			return;
		wide = columns_of(c);
		if (cut && wide >= columns) {
			fputs(p->look->utf8 ? "…" : "+", p->out);
			p->at++;
			return;
		}
		if (harmful(c) || (c >= 0x80 && !p->look->utf8))
			fprintf(p->out, "%.*s", (int)wide, "??");
		else
			fwrite(from, 1, s - from, p->out);
		columns -= wide;
		p->at += wide;
	}
}

void page_styled(struct page *p, const char *style, const char *s)
{
	page_style(p, style);
	page_put(p, s, -1);
	page_style(p, STYLE_PLAIN);
}

void page_to(struct page *p, unsigned column)
{
	page_spaces(p, p->at < column ? column - p->at : 1);
}

void page_section(struct page *p, const char *name, const char *what)
{
	page_newline(p);
	page_styled(p, STYLE_BOLD, name);
	page_spaces(p, 2);
	page_wrap(p, 2, what);
}

void page_newline(struct page *p)
{
	fputc('\n', p->out);
	p->at = p->gap = 0;
}

void page_wrap(struct page *p, unsigned indent, const char *s)
{
	while (*s) {
		size_t spaces = strspn(s, " "), len = strcspn(s + spaces, " ");
		char word[256];
		unsigned wide;

		snprintf(word, sizeof(word), "%.*s", (int)(len < 255 ? len : 255), s + spaces);
		wide = text_columns(word);
		if (p->at > indent && *word != ',' && p->at + spaces + wide > p->width) {
			page_newline(p);
			page_spaces(p, indent);
		} else {
			page_spaces(p, spaces);
		}
		page_put(p, word, wide);
		s += spaces + len;
	}
}

void page_line(struct page *p, unsigned indent, const char *name, unsigned column,
	       const char *what)
{
	page_spaces(p, indent);
	page_put(p, name, -1);
	page_to(p, column);
	page_wrap(p, column, what);
	page_newline(p);
}

void page_remark(struct page *p, unsigned indent, const char *what)
{
	page_spaces(p, indent);
	page_wrap(p, indent + 2, what);
	page_newline(p);
}

void page_dim(struct page *p, unsigned indent, const char *what)
{
	page_spaces(p, indent);
	page_style(p, STYLE_DIM);
	page_wrap(p, indent, what);
	page_style(p, STYLE_PLAIN);
	page_newline(p);
}

void page_end(struct page *p)
{
	if (p->at)
		page_newline(p);
}

void page_end_dim(struct page *p)
{
	if (p->at)
		page_style(p, STYLE_PLAIN);
	page_end(p);
}
