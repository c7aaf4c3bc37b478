/* SPDX-License-Identifier: GPL-2.0 */
/* Writes text into the source of a man page. */
#include <stdbool.h>
#include <string.h>

#include "cmd/man.h"

#define LINE 78	/* columns of the source */

/* Escapes backslashes, and a dot or quote that would make the line a macro. */
static unsigned put_word(FILE *out, const char *word, size_t len, bool first)
{
	unsigned at = 0;

	if (first && (*word == '.' || *word == '\''))
		at += fprintf(out, "\\&");
	for (; len--; word++)
		at += fprintf(out, *word == '\\' ? "\\e" : "%c", *word);
	return at;
}

void man_put(FILE *out, const char *words)
{
	unsigned at = 0;

	while (*words) {
		size_t len = strcspn(words, " ");

		if (at && at + 1 + len > LINE) {
			fputc('\n', out);
			at = 0;
		}
		if (at)
			at += fprintf(out, " ");
		at += put_word(out, words, len, !at);
		if (len && words[len - 1] == '.' && words[len]) {
			fputc('\n', out);
			at = 0;
		}
		words += len + (words[len] == ' ');
	}
	if (at)
		fputc('\n', out);
}
