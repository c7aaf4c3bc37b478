/* SPDX-License-Identifier: GPL-2.0 */
/* The BPF file system: mounted if allowed, and entered only where nobody else can write. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/attach/bpffs.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

/* `ip netns exec` mounts its own /sys, with the name of the network namespace as its source. */
static bool netns_sys(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	bool found = false;
	char path[300];

	while (mounts && (m = getmntent(mounts)))
		if (!strcmp(m->mnt_dir, "/sys")) {
			snprintf(path, sizeof(path), "/run/netns/%s", m->mnt_fsname);
			found = !access(path, F_OK);
		}
	if (mounts)
		endmntent(mounts);
	return found;
}

/* Is this another mount namespace than that of pid 1? Nobody else sees what is mounted here. */
static bool private_mounts(void)
{
	struct stat ours, init;

	/* Not everyone may ask pid 1. */
	if (stat("/proc/self/ns/mnt", &ours) || stat("/proc/1/ns/mnt", &init))
		return netns_sys();
	return ours.st_ino != init.st_ino;
}

int bpffs_missing(struct error *e)
{
	struct statfs fs;

	if (!statfs(BPFFS, &fs) && fs.f_type == BPF_FS_MAGIC)
		return 0;
	if (private_mounts())
		return error_set(e, -ENODEV, "leave `ip netns exec`, and name the interface "
				 "NETNS/IFACE; or enter by nsenter --net=/run/netns/NETNS",
				 BPFFS " is not the host's here, and what we pin would be lost");
	return 1;
}

int bpffs_mount(struct error *e)
{
	int missing = bpffs_missing(e);

	if (missing <= 0)
		return missing;
	if (mount("bpf", BPFFS, "bpf", 0, "mode=0700"))
		return error_set(e, -errno, "mount -t bpf bpf " BPFFS,
				 "no BPF file system on " BPFFS ", and it cannot be mounted: %s",
				 strerror(errno));
	return 0;
}

/* Mounts of others still end here when they do: `ip netns del` must not be held up. */
int bpffs_own(struct error *e)
{
	/* up to 6.7 it belongs to root, whoever mounts it; nobody else comes to this mount */
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) ||
	    mount("bpf", BPFFS, "bpf", 0, geteuid() ? "mode=1777" : "mode=0700"))
		return error_set(e, -errno, NULL, "cannot mount a BPF file system of our own: %s",
				 strerror(errno));
	return 0;
}

/*
 * Whoever can write to a directory decides where the paths through it lead. The first directory,
 * which the kernel makes with mode 1777, is safe if the sticky bit protects its entries.
 */
static int distrust(int fd, const char *path, bool first, struct error *e)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) || fstatfs(fd, &fs))
		return error_set(e, -errno, NULL, "cannot look at %s: %s", path, strerror(errno));
	if (fs.f_type != BPF_FS_MAGIC && first)
		return -ENOENT;
	if (fs.f_type != BPF_FS_MAGIC)
		return error_set(e, -EPERM, text("umount %s", path), "%s is on another file system",
				 path);
	if (st.st_uid && st.st_uid != geteuid())
		return error_set(e, -EPERM, text("ls -lR %s; and where nothing there is needed: "
						 "rm -r %s", path, path),
				 "%s belongs to the user %u: what is in it cannot be trusted",
				 path, st.st_uid);
	if (st.st_mode & 022 && !(first && st.st_mode & S_ISVTX))
		return error_set(e, -EPERM, text(first ? "chmod +t %s" : "chmod go-w %s", path),
				 "others may write to %s (mode %04o): what is in it cannot be "
				 "trusted", path, st.st_mode & 07777);
	return 0;
}

static int open_failed(const char *path, int at, struct error *e)
{
	int err = errno;
	struct stat st;

	if (err == ENOENT)
		return -err;
	if (!fstatat(at, strrchr(path, '/') + 1, &st, AT_SYMLINK_NOFOLLOW) && !S_ISDIR(st.st_mode))
		return error_set(e, -EPERM, text("ls -l %s; and when it is not needed: rm %s", path,
				 path), "%s is %s, and not a directory of ours", path,
				 S_ISLNK(st.st_mode) ? "a symbolic link" : "a file");
	if (err == EACCES)
		return error_set(e, -err,
				 "run it as root, or as one of the group that was given to "
				 "attach by --group", "cannot open %s: %s", path, strerror(err));
	return error_set(e, -err, NULL, "cannot open %s: %s", path, strerror(err));
}

bool bpffs_below(const char *dir)
{
	return !strncmp(dir, BPFFS "/", sizeof(BPFFS));
}

/* A file system that is mounted nowhere is our own, opened as /proc/self/fd/N. */
static int private_open(const char *dir, struct error *e)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? error_set(e, -errno, NULL, "cannot open %s: %s", dir, strerror(errno)) : fd;
}

int bpffs_open(const char *dir, struct error *e)
{
	/* O_PATH: not everyone who may pass through the first directory may list it */
	int fd = open(BPFFS, O_PATH | O_DIRECTORY | O_CLOEXEC), err;
	size_t at = strlen(BPFFS);
	char path[300];

	if (!bpffs_below(dir)) {
		if (fd >= 0)
			close(fd);
		return private_open(dir, e);
	}
	if (fd < 0)
		return errno == ENOENT ? -errno : error_set(e, -errno, NULL, "cannot open " BPFFS
							    ": %s", strerror(errno));
	err = distrust(fd, BPFFS, true, e);
	while (!err && dir[at]) {
		size_t len = strcspn(dir + at + 1, "/");
		int next;

		snprintf(path, sizeof(path), "%.*s", (int)(at + 1 + len), dir);
		next = openat(fd, path + at + 1, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		err = next < 0 ? open_failed(path, fd, e) : distrust(next, path, false, e);
		close(fd);
		fd = next;
		at += 1 + len;
	}
	if (err && fd >= 0)
		close(fd);
	return err ?: fd;
}
