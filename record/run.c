/* SPDX-License-Identifier: GPL-2.0 */
/* The beginning of a run: where and by what it was recorded; and whether a file is a recording. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/core/meta.h"
#include "lib/util/error.h"
#include "record/block.h"
#include "record/mapped.h"
#include "record/recorder.h"
#include "record/run.h"

static void here(struct run_about *a)
{
	int fd = open("/etc/machine-id", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? 0 : read(fd, a->machine_id, sizeof(a->machine_id) - 1);
	struct utsname u;

	if (fd >= 0)
		close(fd);
	a->machine_id[len > 0 ? len : 0] = '\0';
	a->machine_id[strcspn(a->machine_id, "\n")] = '\0';
	uname(&u);
	snprintf(a->host, sizeof(a->host), "%s", u.nodename);
	snprintf(a->kernel, sizeof(a->kernel), "%s", u.release);
	snprintf(a->machine, sizeof(a->machine), "%s", u.machine);
}

void run_put(struct bytes *b, double interval, uint64_t id)
{
	struct run_about a = {};

	here(&a);
	bytes_uint(b, RECORD_FORMAT);
	bytes_text(b, NICPROBE_VERSION);
	bytes_text(b, a.host);
	bytes_text(b, a.machine_id);
	bytes_text(b, a.kernel);
	bytes_text(b, a.machine);
	bytes_double(b, interval);
	bytes_uint(b, id);
}

bool run_take(struct run_about *a, struct reading_of *r)
{
	*a = (struct run_about){ .format = take_uint(r) };
	take_text(r, a->version, sizeof(a->version));
	if (a->format != RECORD_FORMAT)
		return true;	/* what follows may be something else */
	take_text(r, a->host, sizeof(a->host));
	take_text(r, a->machine_id, sizeof(a->machine_id));
	take_text(r, a->kernel, sizeof(a->kernel));
	take_text(r, a->machine, sizeof(a->machine));
	a->interval = take_double(r);
	a->id = take_uint(r);
	return !r->bad;
}

int run_read(const char *path, const uint8_t *file, size_t size, struct run_about *a,
	     struct error *e)
{
	struct bytes room = {};
	struct reading_of body;
	struct file_block b;
	size_t at = block_at(file, size, 0, &b) ? 0 : block_find(file, size, 0);
	bool good;

	while (block_at(file, size, at, &b) && b.type != BLOCK_RUN)
		at = block_find(file, size, at + b.size);
	good = at < size && block_body(&b, &room, NULL, &body) && run_take(a, &body);
	bytes_free(&room);
	if (!good)
		return error_set(e, -EINVAL, NULL, size ? "%s is not a recording of nicprobe" :
				 "%s is empty", path);
	if (a->format != RECORD_FORMAT)
		return error_set(e, -EPROTO, NULL, "%s is of format %u, by nicprobe %.32s; this "
				 "version reads format %u", path, a->format, a->version,
				 RECORD_FORMAT);
	return 0;
}

static bool is_here(const struct run_about *a)
{
	struct run_about now = {};

	here(&now);
	return *now.machine_id ? !strcmp(a->machine_id, now.machine_id) :
	       !strcmp(a->host, now.host);
}

int run_check(const char *path, int fd, uint64_t *whole, uint64_t *began, struct error *e)
{
	struct run_about a = {};
	struct file_block b;
	struct mapped f;
	size_t at;
	int err = mapped_take(fd, path, &f, e);

	err = err ?: run_read(path, f.bytes, f.size, &a, e);
	if (!err && !is_here(&a))
		err = error_set(e, -EEXIST, NULL, "%s was recorded on another host, %s: choose "
				"another name", path, a.host);
	*whole = *began = 0;
	for (at = 0; !err && at < f.size; at = block_find(f.bytes, f.size, at)) {
		if (!block_at(f.bytes, f.size, at, &b))
			continue;
		*began = *began ?: b.when;
		at += b.size;
		*whole = at;
	}
	mapped_close(&f);
	return err;
}
