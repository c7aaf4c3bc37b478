/* SPDX-License-Identifier: GPL-2.0 */
/* The root of the cgroup2 hierarchy. */
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "lib/kernel/cgroup.h"
#include "lib/util/log.h"

/* Where the hierarchy is mounted; NULL: nowhere. */
static const char *cgroup_mount(void)
{
	static char dir[256];
	FILE *mounts = *dir ? NULL : setmntent("/proc/self/mounts", "re");
	struct mntent *m;

	while (mounts && !*dir && (m = getmntent(mounts)))
		if (!strcmp(m->mnt_type, "cgroup2"))
			snprintf(dir, sizeof(dir), "%s", m->mnt_dir);
	if (mounts)
		endmntent(mounts);
	return *dir ? dir : NULL;
}

int cgroup_open(void)
{
	int fs, root = -1, dir, err;

	if (cgroup_mount())
		return open(cgroup_mount(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* a mount that is attached nowhere: it goes with its file descriptor */
	fs = fsopen("cgroup2", FSOPEN_CLOEXEC);
	if (fs >= 0 && !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		root = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	dir = root < 0 ? -1 : openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = errno;
	if (fs >= 0)
		close(fs);
	if (root >= 0)
		close(root);
	errno = err;
	return dir;
}

const char *cgroup_missing(void)
{
	int fd = cgroup_open();

	if (fd < 0)
		return text("there is no cgroup2 hierarchy: %s", strerror(errno));
	close(fd);
	return NULL;
}
