/* SPDX-License-Identifier: GPL-2.0 */
/* A group whose members may read what is pinned, and nothing else. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/attach/bpffs.h"
#include "lib/attach/group.h"
#include "lib/attach/pins.h"
#include "lib/core/meter.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

#define LISTED	0750		/* a directory */
#define READ	0640		/* a map: opened with BPF_F_RDONLY, it allows lookups only */
#define MAPPED	0660		/* one that is frozen: it allows no more however it is opened */

static int group_find(const char *name, gid_t *group, struct error *e)
{
	const struct group *g = getgrnam(name);
	char *end;

	*group = g ? g->gr_gid : strtoul(name, &end, 10);
	if (g || (*name && !*end))
		return 0;
	return error_set(e, -ENOENT, "getent group", "no group \"%.64s\"", name);
}

int group_check(int root, const char *name, gid_t *group, struct error *e)
{
	struct stat fs, ours;
	int err = group_find(name, group, e);

	if (err)
		return err;
	if (stat(BPFFS, &fs) || fstat(root, &ours))
		return error_set(e, -errno, NULL, "cannot look at " PINS_ROOT ": %s",
				 strerror(errno));
	if (!(fs.st_mode & S_IXOTH) && !(fs.st_mode & S_IXGRP && fs.st_gid == *group))
		return error_set(e, -EPERM, "chmod o+x " BPFFS,
				 "the group %s could not come to what "
				 "is pinned: " BPFFS " has mode %04o", name, fs.st_mode & 07777);
	if (ours.st_mode & 070 && ours.st_gid != *group)
		return error_set(e, -EBUSY, "nicprobe detach --all",
				 "another group (%u) may read what "
				 "is attached, and there can be one", ours.st_gid);
	return 0;
}

static int directory_share(int fd, gid_t group)
{
	return fchown(fd, -1, group) || fchmod(fd, LISTED) ? -errno : 0;
}

/* Asked by a write that no map takes: with flags that there are not. */
static bool is_frozen(int fd, const struct bpf_map_info *info)
{
	void *value = calloc(1, info->value_size);
	bool refused = value && bpf_map_update_elem(fd, &(__u32){ 0 }, value, ~0ull) &&
		       errno == EPERM;

	free(value);
	return refused;
}

/*
 * The rows of a meter that are an array in memory: only programs write to them, and a frozen map
 * takes writes from programs alone (Linux 5.2). The kernel maps an array into the memory only of
 * who could open it to write; who cannot has it copied, which takes longer than all else that a
 * reading does.
 */
static bool can_be_mapped(int fd, const char *name)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	if (!meter_find(name) || bpf_obj_get_info_by_fd(fd, &info, &len) ||
	    info.type != BPF_MAP_TYPE_ARRAY || !(info.map_flags & BPF_F_MMAPABLE))
		return false;
	bpf_map_freeze(fd);		/* it may be frozen already */
	return is_frozen(fd, &info);
}

/* Only maps are shared: whoever can open a link can detach it, and a program can be run. */
static int map_share(int dir, const char *path, gid_t group)
{
	const char *name = strrchr(path, '/') + 1;
	int fd = bpf_obj_get(path), err = 0;

	if (fd < 0)
		return errno == EISDIR || errno == EACCES ? 0 : -errno;
	if (bpf_fd_type(fd) == 'm' &&
	    (fchownat(dir, name, -1, group, AT_SYMLINK_NOFOLLOW) ||
	     fchmodat(dir, name, can_be_mapped(fd, name) ? MAPPED : READ, 0)))
		err = -errno;
	close(fd);
	return err;
}

static int directories_share(int root, const char *dir, gid_t group, struct error *e)
{
	int above = bpffs_open(text("%.*s", (int)(strrchr(dir, '/') - dir), dir), e), err;

	if (above < 0)
		return above;
	err = directory_share(root, group) ?: directory_share(above, group);
	close(above);
	return err;
}

int group_share(int root, const char *dir, gid_t group, struct error *e)
{
	int fd = bpffs_open(dir, e), err = fd < 0 ? fd : directories_share(root, dir, group, e);
	DIR *d = err ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!err)
		err = d ? directory_share(fd, group) : -errno;
	while (!err && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			err = map_share(fd, text("%s/%s", dir, entry->d_name), group);
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	if (err)
		error_set(e, err, NULL, "cannot let the group read %s: %s", dir, strerror(-err));
	return err;
}
