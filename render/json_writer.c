/* SPDX-License-Identifier: GPL-2.0 */
/* Writes JSON: takes care of commas, quoting and escapes; the caller nests the values. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "render/json_writer.h"
#include "render/text.h"

static bool escaped(FILE *out, uint32_t c)
{
	bool odd = c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == UTF8_BAD;

	if (odd)
		fprintf(out, "\\u%04" PRIx32, c);
	return odd;
}

static void quoted(FILE *out, const char *s)
{
	fputc('"', out);
	text_escape(out, s, escaped);
	fputc('"', out);
}

static bool in_array(const struct json *j)
{
	return j->depth && j->arrays >> (j->depth - 1) & 1;
}

static void next(struct json *j, const char *key)
{
	const char *unopened = j->unopened;

	j->unopened = NULL;
	if (unopened)
		json_open(j, unopened, '{');
	assert(!key == (!j->depth || in_array(j)));
	if (j->comma)
		fputc(',', j->out);
	j->comma = true;
	if (key) {
		quoted(j->out, key);
		fputc(':', j->out);
	}
}

void json_open(struct json *j, const char *key, char bracket)
{
	next(j, key);
	fputc(bracket, j->out);
	j->comma = false;
	assert(j->depth < JSON_DEPTH);
	j->arrays &= ~(1ull << j->depth);
	j->arrays |= (uint64_t)(bracket == '[') << j->depth++;
}

void json_open_unless_empty(struct json *j, const char *key)
{
	assert(!j->unopened);
	j->unopened = key;
}

void json_close(struct json *j)
{
	if (j->unopened) {
		j->unopened = NULL;
		return;
	}
	assert(j->depth);
	fputc(in_array(j) ? ']' : '}', j->out);
	j->depth--;
	j->comma = j->depth;
}

void json_string(struct json *j, const char *key, const char *value)
{
	next(j, key);
	quoted(j->out, value);
}

void json_string_or_null(struct json *j, const char *key, const char *value)
{
	if (*value)
		json_string(j, key, value);
	else
		json_null(j, key);
}

void json_uint(struct json *j, const char *key, uint64_t value)
{
	char room[NUMBER_SIZE];

	next(j, key);
	fputs(text_number(room, value), j->out);
}

void json_double(struct json *j, const char *key, double value)
{
	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	next(j, key);
	fprintf(j->out, "%.9g", value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	next(j, key);
	fputs(value ? "true" : "false", j->out);
}

void json_time(struct json *j, const char *key, const struct timespec *t)
{
	char day[32];
	struct tm tm;

	strftime(day, sizeof(day), "%FT%T", gmtime_r(&t->tv_sec, &tm));
	next(j, key);
	fprintf(j->out, "\"%s.%03ldZ\"", day, t->tv_nsec / 1000000);
}

void json_null(struct json *j, const char *key)
{
	next(j, key);
	fputs("null", j->out);
}
