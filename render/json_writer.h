/* SPDX-License-Identifier: GPL-2.0 */
/* Writes JSON: takes care of commas, quoting and escapes; the caller nests the values. */
#ifndef NICPROBE_RENDER_JSON_WRITER_H
#define NICPROBE_RENDER_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define JSON_DEPTH	64

struct json {
	FILE *out;
	bool comma;		/* a member precedes in the same object or array */
	const char *unopened;	/* an object to open before its first member; NULL: none */
	unsigned depth;		/* objects and arrays that are open… */
	uint64_t arrays;	/* …a bit per depth: it is an array */
};

/* `key` names a member of an object, and is NULL in an array and at the top; checked. */
void json_open(struct json *, const char *key, char bracket);	/* '{' or '[' */
void json_close(struct json *);		/* the object or array that was opened last */
/* An object that json_close() leaves out, with its key, if nothing was put into it. */
void json_open_unless_empty(struct json *, const char *key);
void json_string(struct json *, const char *key, const char *value);
void json_string_or_null(struct json *, const char *key, const char *value);	/* null if "" */
void json_uint(struct json *, const char *key, uint64_t value);
void json_double(struct json *, const char *key, double value);	/* null unless finite */
void json_bool(struct json *, const char *key, bool value);
/* UTC, RFC 3339, to the millisecond. */
void json_time(struct json *, const char *key, const struct timespec *);
void json_null(struct json *, const char *key);

#endif
