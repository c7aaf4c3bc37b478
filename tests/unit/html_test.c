/* SPDX-License-Identifier: GPL-2.0 */
/* What a report writes: whatever a name is, it stays text, in an element and in quotes. */
#include <stdlib.h>

#define SUBJECT "html: "
#include "check.h"
#include "report/html.h"

#define MADE_UP	20000

static char *written(const char *s)
{
	char *got = NULL;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	html_text(out, s);
	fclose(out);
	return got;
}

static void becomes(const char *what, const char *from, const char *to)
{
	char *got = written(from);

	check(!strcmp(got, to), what, got);
	free(got);
}

/* No character of markup but in an entity of ours; no byte that XML forbids. */
static bool harmless(const char *s)
{
	static const char *const entities[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;",
						"&#65533;" };

	for (; *s; s++) {
		bool known = *s != '&';

		for (unsigned i = 0; !known && i < sizeof(entities) / sizeof(*entities); i++)
			known = !strncmp(s, entities[i], strlen(entities[i]));
		if (!known || strchr("<>\"'", *s) || ((unsigned char)*s < ' ' && *s != '\n' &&
						      *s != '\t'))
			return false;
	}
	return true;
}

static void check_made_up(void)
{
	bool good = true;

	for (unsigned i = 0; i < MADE_UP; i++) {
		char name[24] = "";
		char *got;

		for (unsigned k = 0; k < sizeof(name) - 1; k++)
			name[k] = rand() % 3 ? "<>&\"'"[rand() % 5] : rand();
		got = written(name);
		good = good && must(harmless(got), "made up", got);
		free(got);
	}
	holds(good, "20000 made-up names are harmless");
}

static void check_format(void)
{
	char *got = NULL;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	html(out, "<a b=\"%s\">%u %-4d|%.2f%% %lu %zu %c %s</a>", "\"<", 7u, -3, 1.5, 1ul << 40,
	     (size_t)9, 'M', "%s&");
	fclose(out);
	check(!strcmp(got, "<a b=\"&quot;&lt;\">7 -3  |1.50% 1099511627776 9 M %s&amp;</a>"),
	      "formats escape texts, and nothing else", got);
	free(got);
}

int main(void)
{
	becomes("markup", "<script>&\"'", "&lt;script&gt;&amp;&quot;&#39;");
	becomes("text stays", "tap0 µs – eth0.100", "tap0 µs – eth0.100");
	becomes("an entity is no entity", "&lt;", "&amp;lt;");
	becomes("control characters", "a\x1b[31m\x7f\n", "a&#65533;[31m&#65533;\n");
	becomes("bytes that are no UTF-8", "a\xff\xc3", "a&#65533;&#65533;");
	becomes("what no XML may have", "\xef\xbf\xbf\xed\xa0\x80", "&#65533;&#65533;&#65533;"
		"&#65533;");
	check_format();
	check_made_up();
	return failed > 0;
}
