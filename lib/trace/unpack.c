/* SPDX-License-Identifier: GPL-2.0 */
/* Reads a file that may be compressed, by running the tool that decompresses it. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/kernel/feature.h"
#include "lib/trace/unpack.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "lib/util/slurp.h"

static const struct packer {
	const char *magic;
	size_t len;
	const char *tool, *package;
} packers[] = {
	{ "\xfd" "7zXZ", 6, "xz", "xz-utils" },		/* including its final 0 */
	{ "\x28\xb5\x2f\xfd", 4, "zstd", "zstd" },
	{ "\x1f\x8b", 2, "gzip", "gzip" },
};

/*
 * In the usual directories, not $PATH: root inspecting a user's module must not run that user's xz.
 */
static const char *tool_path(const char *tool)
{
	static const char *const places[] = {
		"/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin",
	};

	for (unsigned i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (!denied(tool) && !access(text("%s/%s", places[i], tool), X_OK))
			return text("%s/%s", places[i], tool);
	return NULL;
}

/* Starts "TOOL -dc" with `file` as input. Returns a descriptor with its output, or -errno. */
static int start(const char *tool, int file, pid_t *pid)
{
	char *argv[] = { (char *)tool, "-dc", NULL };
	const char *path = tool_path(tool);
	posix_spawn_file_actions_t acts;
	int fds[2], err;

	if (!path)
		return -ENOENT;
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	posix_spawn_file_actions_init(&acts);
	posix_spawn_file_actions_adddup2(&acts, file, 0);
	posix_spawn_file_actions_adddup2(&acts, fds[1], 1);
	posix_spawn_file_actions_addopen(&acts, 2, "/dev/null", O_WRONLY, 0);
	err = posix_spawn(pid, path, &acts, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&acts);
	close(fds[1]);
	if (!err)
		return fds[0];
	close(fds[0]);
	return -err;
}

static void *unpack(const char *path, int file, const struct packer *p, size_t *size,
		    struct error *e)
{
	int status, err = 0, fd;
	void *data = NULL;
	pid_t pid;

	fd = start(p->tool, file, &pid);
	if (fd == -ENOENT) {
		error_set(e, fd, text("apt install %s", p->package),
			  "cannot read %s: it is compressed, and %s, which decompresses it, is not "
			  "installed",
			  path, p->tool);
		return NULL;
	}
	if (fd < 0) {
		error_set(e, fd, NULL, "cannot read %s: %s does not start: %s", path, p->tool,
			  strerror(-fd));
		return NULL;
	}
	data = slurp(fd, UNPACK_MOST, size, &err);
	close(fd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (data && !status)
		return data;
	free(data);
	error_set(e, err ?: -EINVAL, NULL, "cannot read %s: %s", path,
		  err ? strerror(-err) :
		  text("%s cannot decompress it: it is truncated or damaged", p->tool));
	return NULL;
}

void *unpack_file(const char *path, size_t *size, struct error *e)
{
	/* do not block on opening a FIFO */
	int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), err = 0;
	char head[6] = "";
	void *data = NULL;
	struct stat st;

	if (file < 0 || fstat(file, &st)) {
		error_set(e, -errno, NULL, "cannot read %s: %s", path, strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode) && strncmp(path, "/sys/", 5)) {
		error_set(e, -EINVAL, NULL, "cannot read %s: it is no file", path);
		goto out;
	}
	for (unsigned i = 0; i < sizeof(packers) / sizeof(*packers); i++)
		if (pread(file, head, sizeof(head), 0) >= (ssize_t)packers[i].len &&
		    !memcmp(head, packers[i].magic, packers[i].len)) {
			data = unpack(path, file, &packers[i], size, e);
			goto out;
		}
	data = slurp(file, UNPACK_MOST, size, &err);
	if (!data)
		error_set(e, err, NULL, "cannot read %s: %s", path, strerror(-err));
out:
	if (file >= 0)
		close(file);
	return data;
}
