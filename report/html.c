/* SPDX-License-Identifier: GPL-2.0 */
/* Writes HTML and SVG: what comes from elsewhere is escaped unless it says that it is markup. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "render/text.h"
#include "report/html.h"

/* XML has no place for control characters, surrogates and the last two of a plane. */
static bool is_text(uint32_t c)
{
	if (c < 0x20)
		return c == '\t' || c == '\n';
	return (c < 0x7f || c > 0x9f) && (c < 0xd800 || c > 0xdfff) && (c & 0xfffe) != 0xfffe;
}

void html_text(FILE *out, const char *s)
{
	for (const char *from = s; *from; from = s) {
		uint32_t c = utf8_next(&s);
		const char *as = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" :
				 c == '"' ? "&quot;" : c == '\'' ? "&#39;" :
				 c == UTF8_BAD || !is_text(c) ? "&#65533;" : NULL;

		if (as)
			fputs(as, out);
		else
			fwrite(from, 1, s - from, out);
	}
}

/* One conversion, of `length` bytes with its %. */
static void number(FILE *out, const char *from, size_t length, va_list *list)
{
	char format[32];
	unsigned longs = 0;
	char kind = from[length - 1];

	if (length >= sizeof(format))
		abort();
	memcpy(format, from, length);
	format[length] = '\0';
	for (size_t i = 1; i < length; i++)
		longs += from[i] == 'l' || from[i] == 'z';
	if (strchr("eEfgG", kind))
		fprintf(out, format, va_arg(*list, double));
	else if (longs > 1)
		fprintf(out, format, va_arg(*list, unsigned long long));
	else if (longs)
		fprintf(out, format, va_arg(*list, unsigned long));
	else if (strchr("diuxXc", kind))
		fprintf(out, format, va_arg(*list, unsigned));
	else
		abort();
}

void html(FILE *out, const char *markup, ...)
{
	va_list list;

	va_start(list, markup);
	while (*markup) {
		size_t plain = strcspn(markup, "%"), length;

		fwrite(markup, 1, plain, out);
		markup += plain;
		if (!*markup)
			break;
		length = 1 + strspn(markup + 1, "0123456789.+-lz") + 1;
		if (markup[1] == '%')
			fputc('%', out);
		else if (markup[1] == 's')
			html_text(out, va_arg(list, const char *));
		else
			number(out, markup, length, &list);
		markup += length;
	}
	va_end(list);
}
