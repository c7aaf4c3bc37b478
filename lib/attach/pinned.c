/* SPDX-License-Identifier: GPL-2.0 */
/* Opens the maps of pins, to read them. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/attach/held.h"
#include "lib/attach/pinned.h"

int pin_open(const char *path)
{
	LIBBPF_OPTS(bpf_obj_get_opts, opts, .file_flags = BPF_F_RDONLY);

	return bpf_obj_get_opts(path, &opts);
}

struct pinned_map pin_read(const char *path)
{
	const struct pinned_map *held = held_pin(path);
	struct pinned_map m = { .fd = held ? held->fd : pin_open(path), .held = held };

	if (!held && m.fd >= 0)
		held_pin_keep(path, &m);
	return m;
}

/* The kernel maps it only for those who could also write to it: others have it copied. */
struct pinned_map map_opened(int fd)
{
	struct pinned_map m = {
		.fd = fd, .mappable = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR,
	};
	__u32 len = sizeof(m.info);
	int err;

	if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &m.info, &len)) {
		err = errno;
		close(fd);
		errno = err;
		m.fd = -1;
	}
	return m;
}

static int open_to_map(const char *path)
{
	int fd = bpf_obj_get(path);
	bool refused = fd < 0 && (errno == EACCES || errno == EPERM || errno == EROFS);

	return refused ? pin_open(path) : fd;
}

struct pinned_map pin_rows(const char *path)
{
	const struct pinned_map *held = held_pin(path);
	struct pinned_map m = {};

	if (held && held->info.id)
		return *held;
	m.fd = open_to_map(path);
	if (m.fd >= 0)
		m = map_opened(m.fd);
	if (!held && m.fd >= 0)
		held_pin_keep(path, &m);
	return m;
}

void pin_close(const struct pinned_map *m)
{
	if (m->fd >= 0 && !m->held)
		close(m->fd);
}
