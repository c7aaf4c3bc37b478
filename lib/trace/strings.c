/* SPDX-License-Identifier: GPL-2.0 */
/* The strings in a program's data, and the names that its printf formats can make of them. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/trace/strings.h"
#include "lib/util/grow.h"

#define DEEPEST 2	/* nested formats: "mlx5_comp%d" in "%s@pci:%s" */
#define STEPS 1000000	/* per name: about 30 ms */

/* A search for one name: every format tried takes a step. */
struct quest {
	const struct strings *s;
	unsigned steps;
};

/* Skips a conversion after its '%'; stores its letter in `kind`. */
static const char *conversion(const char *f, char *kind)
{
	f += strspn(f, "-+ #0123456789.*hlzjt");
	*kind = *f;
	return *f ? f + 1 : f;
}

/* A format needs fixed text: "%s%s" could make any name. */
static bool is_format(const char *s)
{
	bool fixed = false, converts = false;
	char kind;

	while (*s)
		if (*s++ != '%')
			fixed |= s[-1] != ' ';
		else if (*s == '%')
			s++;
		else {
			s = conversion(s, &kind);
			converts = true;
		}
	return fixed && converts;
}

static int append(const char ***list, unsigned *nr, const char *s)
{
	const char **more = grow(*list, *nr, sizeof(*more));

	if (!more)
		return -ENOMEM;
	more[(*nr)++] = s;
	*list = more;
	return 0;
}

int strings_add(struct strings *s, const char *data, size_t size)
{
	size_t from = 0;
	int err = 0;

	for (size_t i = 0; i < size && !err; i++) {
		if (isprint((unsigned char)data[i]))
			continue;
		if (!data[i] && i > from + 1)	/* at least two characters */
			err = is_format(data + from) ?
				append(&s->formats, &s->nr_formats, data + from) :
				append(&s->plain, &s->nr_plain, data + from);
		from = i + 1;
	}
	return err;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void strings_sort(struct strings *s)
{
	if (s->nr_plain)
		qsort(s->plain, s->nr_plain, sizeof(*s->plain), by_text);
}

void strings_free(struct strings *s)
{
	free(s->plain);
	free(s->formats);
	*s = (struct strings){};
}

static bool make(struct quest *q, const char *name, unsigned depth);

static bool match(struct quest *q, const char *f, const char *name, unsigned depth)
{
	if (!q->steps)
		return false;
	q->steps--;
	for (; *f; f++, name++) {
		char piece[128], kind;

		if (*f != '%' || *++f == '%') {
			if (*f != *name)
				return false;
			continue;
		}
		f = conversion(f, &kind);
		if (strchr("diux", kind)) {
			if (!isdigit((unsigned char)*name))
				return false;
			return match(q, f, name + strspn(name, "0123456789"), depth);
		}
		if (kind != 's')
			return false;
		for (size_t len = 1; len <= strlen(name) && len < sizeof(piece); len++) {
			memcpy(piece, name, len);
			piece[len] = '\0';
			if (match(q, f, name + len, depth) && make(q, piece, depth + 1))
				return true;
		}
		return false;
	}
	return !*name;
}

static bool make(struct quest *q, const char *name, unsigned depth)
{
	const struct strings *s = q->s;

	if (!strcmp(name, "?") ||
	    (s->nr_plain && bsearch(&name, s->plain, s->nr_plain, sizeof(*s->plain), by_text)))
		return true;
	for (unsigned i = 0; depth <= DEEPEST && i < s->nr_formats; i++)
		if (match(q, s->formats[i], name, depth))
			return true;
	return false;
}

bool strings_make(const struct strings *s, const char *name)
{
	struct quest q = { s, STEPS };

	return make(&q, name, 0);
}
