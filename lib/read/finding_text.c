/* SPDX-License-Identifier: GPL-2.0 */
/* How findings read: commands, amounts, and the texts of a kind. */
#include <stdio.h>
#include <string.h>

#include "lib/read/findings.h"
#include "lib/util/log.h"

static void append(char *text, size_t size, const char *more, size_t len)
{
	size_t at = strlen(text);

	if (at + 1 < size)
		snprintf(text + at, size - at, "%.*s", (int)len, more);
}

/* A word as sh(1) takes it. */
static void append_word(char *text, size_t size, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";

	if (*word && strspn(word, plain) == strlen(word)) {
		append(text, size, word, strlen(word));
		return;
	}
	append(text, size, "'", 1);
	for (; *word; word++)
		append(text, size, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
	append(text, size, "'", 1);
}

/* What a person types for `sh -c 'echo 3 > FILE'` is what stands in the quotes. */
static const char *of_shell(const char *words)
{
	if (strcmp(words, "sh") || strcmp(words + 3, "-c"))
		return NULL;
	return words + 6;
}

void fix_text(const char *words, char *text, size_t size)
{
	const char *shell = of_shell(words);

	*text = '\0';
	if (shell) {
		append(text, size, shell, strlen(shell));
		return;
	}
	for (; *words; words += strlen(words) + 1) {
		if (*text)
			append(text, size, " ", 1);
		append_word(text, size, words);
	}
}

void finding_try(const struct finding *one, char *text, size_t size)
{
	*text = '\0';
	for (unsigned i = 0; i < one->nr_fixes; i++) {
		char command[sizeof(one->fixes[0]) * 2];

		fix_text(one->fixes[i], command, sizeof(command));
		if (i)
			append(text, size, "; ", 2);
		append(text, size, command, strlen(command));
	}
	if (one->nr_fixes && *one->changes) {
		append(text, size, " (", 2);
		append(text, size, one->changes, strlen(one->changes));
		append(text, size, ")", 1);
	}
	if (*text && *one->advice)
		append(text, size, "; ", 2);
	append(text, size, one->advice, strlen(one->advice));
}

const char *finding_time(double seconds)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double x = seconds * 1e9;
	unsigned i = 0;

	for (; i < 3 && x >= 999.5; i++)
		x /= 1000;
	return text(x < 999.5 ? "%.3g %s" : "%.0f %s", x, units[i]);
}

/* "12.3k": three digits are enough of a rate. */
static const char *short_rate(double x)
{
	static const char *const units[] = { "", "k", "M", "G" };
	unsigned i = 0;

	for (; i < 3 && x >= 9999.5; i++)
		x /= 1000;
	return text(x < 9.95 && x != (int)x ? "%.1f%s" : "%.0f%s", x, units[i]);
}

const char *harm_text(const struct finding *one)
{
	const char *struck = short_rate(one->struck);

	switch (one->kind->harm) {
	case HARM_LOSS:
		return one->harm > 0 ? text("%s packets/s lost", short_rate(one->harm)) :
				       text("%s packets/s held up", struck);
	case HARM_WAIT:
		return text("%s for each of %s packets/s", finding_time(one->harm), struck);
	case HARM_WORK:
		return text("%s packets/s take more CPU time than they need",
			    short_rate(one->harm));
	case HARM_BLIND:
		return text("%s packets/s not seen, or not in full", short_rate(one->harm));
	default:
		return one->struck > 0 ? text("nothing yet: a risk for %s packets/s", struck) :
					 "nothing yet: a risk";
	}
}

void kind_text(const struct finding_kind *kind, const char *template, char *text, size_t size)
{
	*text = '\0';
	while (template && *template) {
		size_t plain = strcspn(template, "{");
		unsigned nr;

		append(text, size, template, plain);
		template += plain;
		if (!*template)
			break;
		nr = template[1] - '1';
		if (nr < MAX_LIMITS && template[2] == '}' && kind->limits[nr]) {
			append(text, size, kind->limits[nr]->text, strlen(kind->limits[nr]->text));
			template += 3;
		} else {
			append(text, size, template++, 1);
		}
	}
}
