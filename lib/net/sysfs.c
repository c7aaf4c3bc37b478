/* SPDX-License-Identifier: GPL-2.0 */
/* Reads sysfs files of one interface. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/net/sysfs.h"
#include "lib/util/log.h"
#include "lib/util/shortage.h"

/* Opens an unmounted sysfs of the current network namespace. fd or -1. */
static int sysfs_ours(void)
{
	int fs = fsopen("sysfs", FSOPEN_CLOEXEC), fd = -1;

	if (fs < 0) {
		short_of(errno, "open a sysfs");
		return -1;
	}
	if (!fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY);
	close(fs);
	return fd;
}

int sysfs_open(const char *iface, unsigned ifindex)
{
	int sys = sysfs_ours(), dir;

	if (sys < 0)
		sys = open("/sys", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (sys < 0) {
		short_of(errno, "open /sys");
		return -1;
	}
	dir = openat(sys, text("class/net/%s", iface), O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		short_of(errno, text("open class/net/%s in sysfs", iface));
	close(sys);
	/* /sys shows the namespace it was mounted in, which may not be the one we entered */
	if (dir >= 0 && sysfs_number(dir, "ifindex") != ifindex) {
		close(dir);
		dir = -1;
	}
	return dir;
}

unsigned long long sysfs_inode(int dir)
{
	struct stat st;

	return fstat(dir, &st) ? 0 : st.st_ino;
}

unsigned long sysfs_number(int dir, const char *file)
{
	int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	char number[24] = "";
	ssize_t got;

	if (fd < 0) {
		short_of(errno, text("open %s in sysfs", file));
		return 0;
	}
	got = read(fd, number, sizeof(number) - 1);
	close(fd);
	return got > 0 ? strtoul(number, NULL, 0) : 0;
}

bool sysfs_line(int dir, const char *file, char *line, size_t size)
{
	int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, line, size - 1);

	if (fd >= 0)
		close(fd);
	else
		short_of(errno, text("open %s in sysfs", file));
	line[got > 0 ? got : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return got >= 0;
}

bool sysfs_link(int dir, const char *link, char *name, size_t size)
{
	char to[256];
	ssize_t len = readlinkat(dir, link, to, sizeof(to) - 1);

	to[len > 0 ? len : 0] = '\0';
	snprintf(name, size, "%s", basename(to));
	return *name;
}

DIR *sysfs_dir(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d)
		short_of(errno, text("open %s in sysfs", path));
	if (!d && fd >= 0)
		close(fd);
	return d;
}
