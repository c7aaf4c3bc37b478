/* SPDX-License-Identifier: GPL-2.0 */
/* Views: questions to probes that have a name. The program brings some; users add files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/views.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "lib/util/near.h"
#include "lib/util/slurp.h"
#include "render/json_writer.h"
#include "render/text.h"

#define FILE_MOST	(1 << 20)	/* slurp() takes no less */
#define WORDS_MOST	64

/* Made from views/ by the Makefile. */
static const struct view_text {
	const char *name, *words;
} views[] = {
#include "views.inc"
	{}
};

/* The directories of users' own, the first that has a name wins; "": not set. */
static const char *directory(unsigned i)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (i == 0)
		return config && *config ? text("%s/nicprobe/views", config) :
		       home && *home ? text("%s/.config/nicprobe/views", home) : "";
	return i == 1 ? "/etc/nicprobe/views" : NULL;
}

static bool is_name(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/') && strlen(name) < 128;
}

/* free() it; NULL: no file has this name. */
static char *file_read(const char *name)
{
	const char *dir;

	for (unsigned i = 0; is_name(name) && (dir = directory(i)); i++) {
		int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC, err;
		int fd = *dir ? open(text("%s/%s", dir, name), flags) : -1;
		size_t size;
		char *words = fd < 0 ? NULL : slurp(fd, FILE_MOST, &size, &err), *end;

		if (fd >= 0)
			close(fd);
		end = words ? realloc(words, size + 1) : NULL;
		if (end) {
			end[size] = 0;
			return end;
		}
		free(words);
	}
	return NULL;
}

static const char *built_in(const char *name)
{
	for (const struct view_text *v = views; v->name; v++)
		if (!strcmp(v->name, name))
			return v->words;
	return NULL;
}

static void try_name(const char *word, void *arg)
{
	near_try(arg, word);
}

/* free() it; NULL and an error: there is no such view. */
static char *view_read(const char *name, struct error *e)
{
	char *words = file_read(name);
	char called[NEAR_SIZE];		/* not text(): views_each() uses that, too */
	struct near near = near_to(called);

	if (!words && built_in(name))
		words = strdup(built_in(name));
	if (words)
		return words;
	snprintf(called, sizeof(called), "@%s", name);
	views_each(try_name, &near);
	error_set(e, -ENOENT, *near.name ? text("nicprobe trace %s", near.name) : "nicprobe list @",
		  "no view \"@%s\"", name);
	return NULL;
}

/* The next word of a shell, without its quotes, in place; NULL: there is none. */
static char *word_next(char **at)
{
	char *word, *to, quote = 0;

	for (;;) {
		*at += strspn(*at, " \t\n\\");
		if (**at != '#')
			break;
		*at += strcspn(*at, "\n");
	}
	if (!**at)
		return NULL;
	word = to = *at;
	for (; **at && (quote || !strchr(" \t\n", **at)); ++*at) {
		if (quote ? **at == quote : **at == '\'' || **at == '"')
			quote = quote ? 0 : **at;
		else
			*to++ = **at;
	}
	if (**at)
		++*at;
	*to = 0;
	return word;
}

char **view_words(const char *name, int *nr, struct error *e)
{
	char *words = view_read(name, e), *word;
	char **list = words ? calloc(WORDS_MOST + 1, sizeof(*list)) : NULL;

	*nr = 0;
	if (!list) {
		error_set(e, -ENOMEM, NULL, "out of memory");
		free(words);
		return NULL;
	}
	while ((word = word_next(&words)) && *nr < WORDS_MOST)
		list[(*nr)++] = word;
	if (!*nr || word) {
		error_set(e, -EINVAL, NULL, "the view \"@%s\" has %s words", name,
			  word ? "too many" : "no");
		return NULL;
	}
	return list;
}

void views_each(word_fn *tell, void *arg)
{
	const char *dir;

	for (const struct view_text *v = views; v->name; v++)
		tell(text("@%s", v->name), arg);
	for (unsigned i = 0; (dir = directory(i)); i++) {
		DIR *files = *dir ? opendir(dir) : NULL;
		struct dirent *file;

		while (files && (file = readdir(files)))
			if (is_name(file->d_name) && !built_in(file->d_name))
				tell(text("@%s", file->d_name), arg);
		if (files)
			closedir(files);
	}
}

/* The first line of comment that is not the licence, cut out of the words of a view. */
static char *question_of(char *words)
{
	while (words[strcspn(words, "\n")] && strstr(words, "SPDX") &&
	       strstr(words, "SPDX") < words + strcspn(words, "\n"))
		words += strcspn(words, "\n") + 1;
	words += strspn(words, "# \t");
	words[strcspn(words, "\n")] = 0;
	return words;
}

static void line_print(const char *name, void *arg)
{
	struct error e = {};
	char *words = view_read(name + 1, &e);

	if (words)
		page_line(arg, 0, name, 28, question_of(words));
	free(words);
}

static void one_json(const char *name, void *arg)
{
	struct error e = {};
	char *words = view_read(name + 1, &e), *whole = words ? strdup(words) : NULL;
	struct json *j = arg;

	if (whole) {
		json_open(j, NULL, '{');
		json_string(j, "view", name);
		json_string(j, "question", question_of(words));
		json_string(j, "words", whole);
		json_close(j);
	}
	free(whole);
	free(words);
}

int views_json(FILE *out, const char *name, struct error *e)
{
	struct json j = { .out = out };
	char *words = *name ? view_read(name, e) : NULL;

	if (*name && !words)
		return -ENOENT;
	free(words);
	json_open(&j, NULL, '[');
	if (*name)
		one_json(text("@%s", name), &j);
	else
		views_each(one_json, &j);
	json_close(&j);
	fputc('\n', out);
	return 0;
}

static void file_print(struct page *page, char *words)
{
	for (char *line = strtok(words, "\n"); line; line = strtok(NULL, "\n")) {
		text_harmless(page->out, line, page->look->utf8);
		fputc('\n', page->out);
	}
}

int views_print(struct page *page, const char *name, bool verbose, struct error *e)
{
	char *words;

	if (!*name && !verbose) {
		views_each(line_print, page);
		return 0;
	}
	words = view_read(name, e);
	if (!words)
		return -ENOENT;
	if (verbose)
		file_print(page, words);
	else
		line_print(text("@%s", name), page);
	free(words);
	return 0;
}

bool view_take(const struct command *c, const char *name, void *to, const char **probes,
	       int *status)
{
	struct error e = {};
	char **words;
	int nr;

	words = view_words(name, &nr, &e);
	if (!words) {
		failed(&e);
		*status = EXIT_USAGE;
		return false;
	}
	optind = 0;
	if (**words != '-')
		*probes = *words;
	/* the first word stands where the name of the command would */
	if (!options_take(c, nr, words, to, status))
		return false;
	if (optind != nr) {
		*status = usage_error(text("nicprobe list -v @%s", name),
				      "the view \"@%s\" has a word too many: \"%s\"", name,
				      words[optind]);
		return false;
	}
	return true;
}
