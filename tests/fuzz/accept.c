/* SPDX-License-Identifier: GPL-2.0 */
/* Fuzzes the headers of a request that serve reads: what any client may send. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/negotiate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void wrong(const char *what)
{
	fprintf(stderr, "mismatch: %s\n", what);
	abort();
}

/* The same list behind an element that says nothing of either: it must not change the answer. */
static char *longer(const char *header)
{
	char *text = malloc(strlen(header) + 20);

	if (text)
		sprintf(text, "x-other/y;q=0.5,%s", header);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *header = malloc(size + 1), *more;

	if (!header)
		return 0;
	memcpy(header, data, size);
	header[size] = '\0';
	more = longer(header);
	if (more && accepts_gzip(header) != accepts_gzip(more))
		wrong("another encoding changes whether gzip is accepted");
	if (more && *header && accepts_openmetrics(header) != accepts_openmetrics(more))
		wrong("another format changes which one is preferred");
	if (accepts_openmetrics(NULL) || accepts_gzip(NULL))
		wrong("no header accepts something");
	free(more);
	free(header);
	return 0;
}
