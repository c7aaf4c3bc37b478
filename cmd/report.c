/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe report: a recording, or two of them, as a page of HTML. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "lib/util/error.h"
#include "lib/util/heap.h"
#include "lib/util/log.h"
#include "render/units.h"
#include "report/report.h"

#define DEFAULT	"report.html"	/* in the present directory, if stdout is a terminal */

struct wanted_page {
	const char *to;
};

static const struct option_spec options[] = {
	{ 'o', "output", "PAGE", "write to PAGE; - is the standard output (default: that,\n"
				 "and " DEFAULT " if it is a terminal)",
	  OPTION_FILE, INTO(struct wanted_page, to) },
	{}
};

static int cannot_write(const char *to, int err, struct error *e)
{
	return error_set(e, err, NULL, "cannot write %s: %s", to, strerror(-err));
}

static int all_write(int fd, const char *page, size_t size)
{
	while (size) {
		ssize_t done = write(fd, page, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		page += done;
		size -= done;
	}
	return 0;
}

/* A device or a pipe: there is nothing to replace. */
static int special_write(const char *to, const char *page, size_t size, struct error *e)
{
	int fd = open(to, O_WRONLY | O_CLOEXEC);
	int err = fd < 0 ? -errno : all_write(fd, page, size);

	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	return err ? cannot_write(to, err, e) : 0;
}

/* Beside it first, so that what is there stays if this fails. */
static int file_write(const char *to, const char *page, size_t size, struct error *e)
{
	char beside[4200];
	mode_t mask = umask(0);
	int fd, err;

	umask(mask);
	if (snprintf(beside, sizeof(beside), "%s.XXXXXX", to) >= (int)sizeof(beside))
		return cannot_write(to, -ENAMETOOLONG, e);
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return cannot_write(to, -errno, e);
	err = all_write(fd, page, size);
	if (!err && (fchmod(fd, 0666 & ~mask) || fsync(fd)))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(beside, to))
		err = -errno;
	if (err)
		unlink(beside);
	return err ? cannot_write(to, err, e) : 0;
}

static bool is_same(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Where it goes: NULL is stdout. */
static int page_write(const char *to, const char *page, size_t size, struct error *e)
{
	char amount[UNITS_SIZE];
	struct stat st;
	int err;

	if (!to) {
		err = all_write(STDOUT_FILENO, page, size);
		return err ? error_set(e, err, NULL, "cannot write to stdout: %s", strerror(-err)) :
		       0;
	}
	err = !stat(to, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) ?
	      special_write(to, page, size, e) : file_write(to, page, size, e);
	if (err)
		return err;
	units_bytes(amount, size);
	tell(text("%s: %s; open it with a browser", to, amount));
	return 0;
}

static void progress(double part)
{
	static int shown = -1;

	if (isatty(STDERR_FILENO) && shown != (int)(100 * part)) {
		shown = 100 * part;
		fprintf(stderr, "\rreading %d%% ", shown);
	}
}

static void progress_end(void)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%*s\r", 20, "");
}

static int accounts_read(struct report *r, char **paths, unsigned nr, struct error *e)
{
	const struct account_how how = { .files = nr, .progress = progress };

	for (; r->nr_files < nr; r->nr_files++) {
		struct file_account *a = &r->files[r->nr_files];
		int err = account_read(a, paths[r->nr_files], &how, e);

		progress_end();
		if (err)
			return err;
		if (*a->damage)
			tell(a->damage);
	}
	return 0;
}

static int report_make(char **paths, unsigned nr, const char *to, struct error *e)
{
	struct report r = {};
	char *page = NULL;
	size_t size = 0;
	int err;

	heap_keep();
	err = accounts_read(&r, paths, nr, e);
	if (!err) {
		r.out = open_memstream(&page, &size);
		err = r.out ? report_write(&r) : -ENOMEM;
		if (r.out && fclose(r.out))
			err = -ENOMEM;
		if (err)
			error_set(e, err, NULL, "cannot make the page: %s", strerror(-err));
	}
	err = err ?: page_write(to, page, size, e);
	free(page);
	account_free(&r.files[0]);
	account_free(&r.files[1]);
	return err;
}

static int run(int argc, char **argv)
{
	struct wanted_page w = {};
	struct error e = {};
	unsigned nr;
	int status;

	if (!options_take(&command_report, argc, argv, &w, &status))
		return status;
	if (json_wanted)
		return usage_error("nicprobe show -j --from FILE", "report makes HTML; show has "
				   "the figures as JSON");
	nr = argc - optind;
	if (!nr || nr > 2)
		return usage_error("nicprobe report FILE", nr ? "report takes one recording or "
				   "two" : "report needs a recording");
	w.to = w.to ?: isatty(STDOUT_FILENO) ? DEFAULT : "-";
	for (unsigned i = 0; i < nr; i++)
		if (is_same(argv[optind + i], w.to))
			return usage_error("-o " DEFAULT, "%s is the recording itself", w.to);
	if (report_make(argv + optind, nr, strcmp(w.to, "-") ? w.to : NULL, &e))
		return failed(&e);
	return EXIT_SUCCESS;
}

const struct command command_report = {
	.name = "report",
	.args = "FILE [FILE] [-o PAGE]",
	.help = "make a page of HTML of a recording, or of two side by side",
	.options = { options },
	.run = run,
};
