/* SPDX-License-Identifier: GPL-2.0 */
/* Asks the kernel for BPF programs by their id, and for those of pins. */
#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/attach/pins.h"
#include "lib/kernel/programs.h"
#include "lib/util/log.h"

const char *program_name(__u32 id)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);

	if (fd < 0)
		return "?";
	bpf_obj_get_info_by_fd(fd, &info, &len);
	close(fd);
	return text("%s", info.name);
}

const char *program_named(__u32 id)
{
	const char *name = program_name(id);

	return *name && *name != '?' ? text("\"%s\" (id %u)", name, id) : text("of id %u", id);
}

bool program_hidden(__u32 id)
{
	int fd = id ? bpf_prog_get_fd_by_id(id) : -1;
	bool hidden = id && fd < 0 && errno == EPERM;

	if (fd >= 0)
		close(fd);
	return hidden;
}

bool program_uses(__u32 id, __u32 map)
{
	__u32 ids[64];
	struct bpf_prog_info info = { .nr_map_ids = 64, .map_ids = (__u64)(unsigned long)ids };
	__u32 len = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);
	bool found = false;

	if (fd < 0)
		return false;
	if (!bpf_obj_get_info_by_fd(fd, &info, &len))
		for (__u32 i = 0; i < info.nr_map_ids && i < 64; i++)
			found |= ids[i] == map;
	close(fd);
	return found;
}

__u32 map_pinned(const char *path)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	int fd = bpf_obj_get(path);

	if (fd < 0)
		return 0;
	if (bpf_fd_type(fd) != 'm' || bpf_obj_get_info_by_fd(fd, &info, &len))
		info.id = 0;
	close(fd);
	return info.id;
}

__u32 program_pinned(const char *path)
{
	struct bpf_link_info link = {};
	struct bpf_prog_info prog = {};
	int fd = bpf_obj_get(path);
	char type = fd < 0 ? 0 : bpf_fd_type(fd);
	__u32 len = type == 'p' ? sizeof(prog) : sizeof(link);

	if (type == 'p')
		bpf_obj_get_info_by_fd(fd, &prog, &len);
	else if (type == 'l')
		bpf_obj_get_info_by_fd(fd, &link, &len);
	if (fd >= 0)
		close(fd);
	return prog.id ?: link.prog_id;
}
