/* SPDX-License-Identifier: GPL-2.0 */
/* Saves a trial with its machine and settings to a file, as a baseline for later comparisons. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "lib/util/log.h"
#include "render/json_writer.h"
#include "trial/stats/record.h"

static void cpu_model(char *model, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[256], *at;

	while (f && !*model && fgets(line, sizeof(line), f))
		if (!strncmp(line, "model name", 10) && (at = strstr(line, ": ")))
			snprintf(model, size, "%.*s", (int)strcspn(at + 2, "\n"), at + 2);
	if (f)
		fclose(f);
}

int record_start(struct record *r, struct error *e)
{
	time_t now = time(NULL);
	struct utsname u;

	*r = (struct record){ .cpus = sysconf(_SC_NPROCESSORS_ONLN), .series = rounds_new() };
	if (!r->series)
		return error_set(e, -ENOMEM, NULL, "cannot keep the measurements: out of memory");
	strftime(r->saved, sizeof(r->saved), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
	if (!uname(&u)) {
		snprintf(r->host, sizeof(r->host), "%s", u.nodename);
		snprintf(r->machine, sizeof(r->machine), "%s", u.machine);
		snprintf(r->kernel, sizeof(r->kernel), "%s %s", u.release, u.version);
	}
	cpu_model(r->cpu, sizeof(r->cpu));
	return 0;
}

void record_set(struct record *r, const char *name, const char *value, ...)
{
	struct setting *s = &r->settings[r->nr_settings];
	va_list args;

	if (r->nr_settings == SETTINGS_MAX)
		abort();
	r->nr_settings++;
	snprintf(s->name, sizeof(s->name), "%s", name);
	va_start(args, value);
	vsnprintf(s->value, sizeof(s->value), value, args);
	va_end(args);
}

void record_free(struct record *r)
{
	free(r->series);
	r->series = NULL;
}

static void figure_write(struct json *j, const struct rounds *s, unsigned at)
{
	const struct bench_figure *f = &s->figure[at];

	json_open(j, NULL, '{');
	json_string(j, "name", f->name);
	json_string(j, "unit", f->unit);
	json_double(j, "better", f->better);
	json_open(j, "values", '[');
	for (unsigned i = 0; i < s->rounds; i++)
		json_double(j, NULL, s->values[at][i]);
	json_close(j);
	json_close(j);
}

/* One line per figure, for readers and for git diff. */
static void document(FILE *out, const struct record *r)
{
	struct json j = { .out = out };

	json_open(&j, NULL, '{');
	json_uint(&j, "nicprobe_baseline", RECORD_VERSION);
	json_string(&j, "saved", r->saved);
	json_string(&j, "host", r->host);
	json_string(&j, "machine", r->machine);
	json_string(&j, "cpu", r->cpu);
	json_uint(&j, "cpus", r->cpus);
	json_string(&j, "kernel", r->kernel);
	json_string(&j, "interface", r->iface);
	json_string(&j, "driver", r->driver);
	json_string(&j, "scenario", r->scenario);
	json_open(&j, "options", '{');
	for (unsigned i = 0; i < r->nr_settings; i++)
		json_string(&j, r->settings[i].name, r->settings[i].value);
	json_close(&j);
	json_uint(&j, "rounds", r->series->rounds);
	json_open(&j, "figures", '[');
	for (unsigned i = 0; i < r->series->nr; i++) {
		fputc('\n', out);
		figure_write(&j, r->series, i);
	}
	json_close(&j);
	json_close(&j);
	fputc('\n', out);
}

static int unwritable(const char *path, int err, struct error *e)
{
	return error_set(e, -err, NULL, "cannot save the baseline in %s: %s", path, strerror(err));
}

/*
 * The file to replace: `path`, or the target if it is a link. NULL with *err 0: it is not a regular
 * file (a pipe, for example) or is our own stdout; write to it instead of replacing it.
 */
static char *replaced_file(const char *path, int *err)
{
	/* the same check as a shell's >, including the kernel's restrictions on links */
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	char to[PATH_MAX] = "";
	struct stat st, out;

	*err = fd < 0 ? errno : 0;
	if (*err == ENOENT && lstat(path, &st)) {
		*err = 0;
		return strdup(path);
	}
	if (*err == ENXIO)	/* a FIFO without a reader so far */
		*err = 0;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    (!fstat(STDOUT_FILENO, &out) && st.st_ino == out.st_ino && st.st_dev == out.st_dev)) {
		close(fd);
		return NULL;
	}
	if (readlink(text("/proc/self/fd/%d", fd), to, sizeof(to) - 1) < 0)
		*err = errno;
	close(fd);
	return *err ? NULL : strdup(to);
}

int record_can_write(const char *path, struct error *e)
{
	int err;
	char *file = replaced_file(path, &err);

	if (file && access(dirname(file), W_OK | X_OK))
		err = errno;
	free(file);
	return err ? unwritable(path, err, e) : 0;
}

static int write_to(const struct record *r, FILE *out)
{
	int err;

	document(out, r);
	err = fflush(out) || ferror(out) ? errno : 0;
	if (!err && fsync(fileno(out)) && errno != EINVAL && errno != EROFS)
		err = errno;
	if (fclose(out) && !err)
		err = errno;
	return err;
}

static int replace(const struct record *r, const char *path)
{
	char *name;
	mode_t mask;
	FILE *out;
	int err, fd;

	if (asprintf(&name, "%s.XXXXXX", path) < 0)
		return ENOMEM;
	fd = mkstemp(name);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	err = out ? write_to(r, out) : errno;
	mask = umask(0);
	umask(mask);
	if (!err && (chmod(name, 0666 & ~mask) || rename(name, path)))
		err = errno;
	if (err && fd >= 0)
		unlink(name);
	free(name);
	return err;
}

int record_write(const struct record *r, const char *path, struct error *e)
{
	int err, fd;
	char *file = replaced_file(path, &err);
	FILE *out;

	if (file) {
		err = replace(r, file);
	} else if (!err) {	/* keep the order: earlier output to stdout comes first */
		fflush(stdout);
		fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
		out = fd < 0 ? NULL : fdopen(fd, "w");
		err = out ? write_to(r, out) : errno;
	}
	free(file);
	return err ? unwritable(path, err, e) : 0;
}
