/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the headers Accept and Accept-Encoding: ranges with weights (RFC 9110, 12.4). */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "serve/negotiate.h"

/* One element of the list: a word, its weight, and its parameter "version". */
struct media {
	char word[64], version[16];
	double weight;		/* 0: not acceptable */
};

/* The part of `from` up to one of `ends`, without the spaces around it. */
static void trimmed(const char *from, size_t len, char *to, size_t size)
{
	while (len && (*from == ' ' || *from == '\t')) {
		from++;
		len--;
	}
	while (len && (from[len - 1] == ' ' || from[len - 1] == '\t'))
		len--;
	if (len >= size)	/* longer than all that is looked for */
		len = 0;
	memcpy(to, from, len);
	to[len] = '\0';
}

static double weight_of(const char *value)
{
	char *end;
	double q = strtod(value, &end);

	return end == value || *end || !(q >= 0 && q <= 1) ? 0 : q;
}

static void parameter_take(struct media *r, const char *parameter)
{
	const char *value = parameter + strcspn(parameter, "=");

	if (!*value++)
		return;
	if (!strncasecmp(parameter, "q=", 2))
		r->weight = weight_of(value);
	else if (!strncasecmp(parameter, "version=", 8))
		trimmed(value, strlen(value), r->version, sizeof(r->version));
}

/* Reads the first element of a list, and returns what follows it; NULL: the list is at its end. */
static const char *range_next(const char *list, struct media *r)
{
	size_t len, part;

	if (!list || !*list)
		return NULL;
	*r = (struct media){ .weight = 1 };
	len = strcspn(list, ",");
	part = strcspn(list, ";,");
	trimmed(list, part, r->word, sizeof(r->word));
	while (part < len) {
		char parameter[64];
		size_t from = part + 1;

		part = from + strcspn(list + from, ";,");
		trimmed(list + from, part - from, parameter, sizeof(parameter));
		parameter_take(r, parameter);
	}
	return list + len + (list[len] == ',');
}

static bool versioned(const struct media *r, const char *version)
{
	return !*r->version || !strcmp(r->version, version);
}

bool accepts_openmetrics(const char *accept)
{
	static const char *const wild[] = { "*/*", "text/*", "text/plain" };
	double open = 0, text = 0;
	unsigned closest = 0;		/* the most specific range that text matches */
	struct media r;

	while ((accept = range_next(accept, &r))) {
		if (!strcasecmp(r.word, "application/openmetrics-text") && versioned(&r, "1.0.0") &&
		    r.weight > open)
			open = r.weight;
		for (unsigned i = closest; i < sizeof(wild) / sizeof(*wild); i++)
			if (!strcasecmp(r.word, wild[i]) && versioned(&r, "0.0.4")) {
				text = i > closest || r.weight > text ? r.weight : text;
				closest = i;
			}
	}
	return open > 0 && open >= text;
}

bool accepts_gzip(const char *encoding)
{
	double all = 0, gzip = -1;
	struct media r;

	while ((encoding = range_next(encoding, &r)))
		if (!strcasecmp(r.word, "gzip") || !strcasecmp(r.word, "x-gzip"))
			gzip = r.weight;
		else if (!strcmp(r.word, "*"))
			all = r.weight;
	return gzip >= 0 ? gzip > 0 : all > 0;
}
