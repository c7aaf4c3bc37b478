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

#include "lib/net/iface.h"
#include "lib/net/sysfs.h"
#include "lib/util/log.h"
#include "lib/util/shortage.h"

/*
 * An unmounted sysfs of the current network namespace, or -1. The last one is kept: the kernel
 * waits for a grace period of RCU whenever one is closed (6.18), 80 us. It holds no namespace alive
 * (it takes the passive count, fs/sysfs/mount.c), and a cookie is never given twice.
 */
static int sysfs_ours(void)
{
	static int kept = -1;
	static __u64 of;
	__u64 now = netns_cookie();
	int fs;

	if (kept >= 0 && now && now == of)
		return kept;
	if (kept >= 0)
		close(kept);
	kept = -1;
	of = now;
	fs = fsopen("sysfs", FSOPEN_CLOEXEC);
	if (fs < 0) {
		short_of(errno, "open a sysfs");
		return -1;
	}
	if (!fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		kept = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY);
	close(fs);
	return kept;
}

/* class/net/IFACE in it, or else in /sys. */
static int class_open(const char *path)
{
	int sys = sysfs_ours(), dir;

	if (sys >= 0)
		return openat(sys, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	sys = open("/sys", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (sys < 0)
		return -1;
	dir = openat(sys, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	close(sys);
	return dir;
}

int sysfs_open(const char *iface, unsigned ifindex)
{
	int dir = class_open(text("class/net/%s", iface));

	if (dir < 0)
		short_of(errno, text("open class/net/%s in sysfs", iface));
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
