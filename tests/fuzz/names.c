/* SPDX-License-Identifier: GPL-2.0 */
/* Fuzzes the handling and printing of names: interfaces, strings, statistics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/core/nic_driver.h"
#include "lib/net/iface.h"
#include "lib/net/queues.h"
#include "lib/net/statistics.h"
#include "lib/trace/strings.h"
#include "lib/util/error.h"
#include "lib/util/near.h"
#include "render/json_writer.h"
#include "render/text.h"
#include "world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void wrong(const char *what)
{
	fprintf(stderr, "mismatch: %s\n", what);
	abort();
}

/* JSON goes to programs: it must only be free of control characters. */
static void harmless(const char *shown, size_t size, bool json, const char *how)
{
	const char *s = shown;

	if (strlen(shown) != size)
		wrong(how);
	for (uint32_t c; (c = utf8_next(&s));)
		if ((c < ' ' && c != '\n') || (c >= 0x7f && c < 0xa0) || c == UTF8_BAD ||
		    (c >= 0x202a && c <= 0x202e && !json))
			wrong(how);
}

static void shown(const char *name, bool utf8)
{
	const struct look look = { .width = 40, .utf8 = utf8 };
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	struct page p = { .out = f, .look = &look, .width = 40 };

	if (!f)
		abort();
	text_harmless(f, name, utf8);
	fflush(f);
	harmless(text, size, false, "a name is shown that can drive a terminal");
	rewind(f);
	page_put(&p, name, 17);
	page_wrap(&p, 3, name);
	page_newline(&p);
	fclose(f);
	harmless(text, size, false, "a page has what can drive a terminal");
	free(text);
}

/* The position after the closing quote; NULL: not a JSON string. */
static const char *past_string(const char *s)
{
	if (*s++ != '"')
		return NULL;
	for (; *s != '"'; s++)
		if (!*s || (*s == '\\' && !strchr("\"\\u", *++s)))
			return NULL;
	return s + 1;
}

static void quoted(const char *name)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	struct json j = { .out = f };
	const char *at;

	if (!f)
		abort();
	json_open(&j, NULL, '{');
	json_string(&j, name, name);
	json_close(&j);
	fclose(f);
	harmless(text, size, true, "JSON has what can drive a terminal");
	at = *text == '{' ? past_string(text + 1) : NULL;
	at = at && *at == ':' ? past_string(at + 1) : NULL;
	if (!at || strcmp(at, "}"))
		wrong("it is no JSON");
	free(text);
}

/* For a driver that has it, and for one that does not. */
static void meanings(const char *name)
{
	struct stat_heading heading = {};
	struct vector v = { .rx = QUEUE_NONE, .tx = QUEUE_NONE };
	int queue;

	snprintf(v.name, sizeof(v.name), "%s", name);
	for (const struct driver *const *d = drivers; *d; d++) {
		struct stat_meaning m = stat_meaning(*d, &heading, name, 3);

		if (m.queue >= MAX_QUEUES)
			wrong("a queue that cannot be");
		vector_match(*d, &v);
	}
	stat_match("rx%d_queue_%t_bytes", name, &queue);
}

static void made(const char *name, const char *data, size_t size)
{
	struct strings s = {};

	if (!strings_add(&s, data, size)) {
		strings_sort(&s);
		strings_make(&s, name);
	}
	strings_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name, *other, *rest;
	struct near near;
	struct error e = {};
	struct iface i;
	size_t nr;

	world_begin(data, size, true);
	name = world_take(world_number(1), &nr);
	other = world_take(world_number(1), &nr);
	rest = world_take(size, &nr);
	near = near_to(name);
	near_try(&near, other);
	shown(name, true);
	shown(other, false);
	quoted(name);
	meanings(name);
	made(other, rest, nr);
	iface_read(name, &i, &e);
	error_set(&e, -1, name, "%s", other);
	quoted(e.what);
	free(name);
	free(other);
	free(rest);
	return 0;
}
