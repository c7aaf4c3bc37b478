/* SPDX-License-Identifier: GPL-2.0 */
/* Where the state lives: made, locked, read and removed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "iface.h"
#include "log.h"
#include "pins.h"

#define BPFFS "/sys/fs/bpf"

/* `ip netns exec` mounts a /sys of its own, and calls it by the name of the network namespace. */
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

/* Another mount namespace than that of pid 1: what is mounted here, nobody else sees. */
static bool private_mounts(void)
{
	struct stat ours, init;

	/* Not everyone may ask pid 1. */
	if (stat("/proc/self/ns/mnt", &ours) || stat("/proc/1/ns/mnt", &init))
		return netns_sys();
	return ours.st_ino != init.st_ino;
}

/* 0: the BPF file system is there; -ENODEV: not, and it must not be mounted here; 1: not. */
static int bpffs_missing(void)
{
	struct statfs fs;

	if (!statfs(BPFFS, &fs) && fs.f_type == BPF_FS_MAGIC)
		return 0;
	if (private_mounts())
		return complain(-ENODEV, "leave `ip netns exec`, and name the interface "
				"NETNS/IFACE; or enter by nsenter --net=/run/netns/NETNS",
				BPFFS " is not the host's here, and what we pin would be lost");
	return 1;
}

static int bpffs_mount(void)
{
	int missing = bpffs_missing();

	if (missing <= 0)
		return missing;
	if (mount("bpf", BPFFS, "bpf", 0, "mode=0700"))
		return complain(-errno, "mount -t bpf bpf " BPFFS,
				"no BPF file system on " BPFFS ", and it cannot be mounted: %s",
				strerror(errno));
	return 0;
}

int pins_lock(bool exclusive)
{
	struct stat locked, there;
	int fd, err;

	for (;;) {
		if (exclusive) {
			err = bpffs_mount();
			if (err)
				return err;
			if (mkdir(PINS_ROOT, 0700) && errno != EEXIST)
				return complain(-errno, NULL, "cannot make " PINS_ROOT ": %s",
						strerror(errno));
		}
		fd = open(PINS_ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT) {
			if (exclusive)
				continue;	/* the last detach was quicker */
			return bpffs_missing() < 0 ? -ENODEV : -ENOENT;
		}
		if (fd < 0)
			return complain(-errno, NULL, "cannot open " PINS_ROOT ": %s",
					strerror(errno));
		while (flock(fd, exclusive ? LOCK_EX : LOCK_SH))
			if (errno != EINTR) {
				err = complain(-errno, NULL, "cannot lock " PINS_ROOT ": %s",
					       strerror(errno));
				close(fd);
				return err;
			}
		/* The last detach removes the root: what we waited for may be gone by now. */
		if (!fstat(fd, &locked) && !stat(PINS_ROOT, &there) &&
		    locked.st_ino == there.st_ino)
			return fd;
		close(fd);
	}
}

void pins_unlock(int lock)
{
	if (lock >= 0)
		close(lock);
}

static void swap(char *name, char from, char to)
{
	for (; *name; name++)
		if (*name == from)
			*name = to;
}

void pins_dir(char *dir, size_t size, __u32 netns, const char *iface)
{
	int at = snprintf(dir, size, PINS_ROOT "/%u/", netns);

	snprintf(dir + at, size - at, "%s", iface);
	swap(dir + at, '.', ':');
}

char bpf_fd_type(int fd)
{
	static const struct { const char *link; char type; } types[] = {
		{ "anon_inode:bpf-map", 'm' }, { "anon_inode:bpf-prog", 'p' },
		/* the first when it is made, the second when it comes from a pin; 5.8 */
		{ "anon_inode:bpf_link", 'l' }, { "anon_inode:bpf-link", 'l' },
	};
	char link[64] = "";

	if (readlink(text("/proc/self/fd/%d", fd), link, sizeof(link) - 1) > 0)
		for (unsigned i = 0; i < sizeof(types) / sizeof(*types); i++)
			if (!strcmp(link, types[i].link))
				return types[i].type;
	return 0;
}

static int not_ours(const char *dir, const char *why)
{
	return complain(-EPROTO, text("rm -r %s, when nothing there is needed", dir), "%s %s",
			dir, why);
}

/* The interface a directory is of, pins_dir() the other way round, as `detach` finds it. */
static const char *pins_iface(const char *dir)
{
	const char *slash = strrchr(dir, '/'), *number = slash;
	char name[64], netns[256];
	struct stat first;
	__u32 inode;

	while (number > dir && number[-1] != '/')
		number--;
	inode = strtoul(number, NULL, 10);
	snprintf(name, sizeof(name), "%s", slash + 1);
	swap(name, ':', '.');
	if (!stat("/proc/1/ns/net", &first) && first.st_ino == inode)
		return text("%s", name);
	/* where we are now may not be where the user is */
	if (netns_name(inode, netns, sizeof(netns)) && *netns)
		return text("%s/%s", netns, name);
	return text("netns:%u/%s", inode, name);
}

int meta_read(const char *dir, struct meta *meta)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	unsigned char value[8192];
	int err, fd;

	if (access(dir, F_OK))
		return -errno;
	fd = bpf_obj_get(text("%s/meta", dir));
	if (fd < 0)
		return errno == ENOENT ? -ENODATA :
		       not_ours(dir, "holds a \"meta\" that is not ours");
	err = bpf_fd_type(fd) == 'm' ? 0 : -EPROTO;
	/* not by its name: that is left out where libbpf thinks that the kernel knows none */
	if (!err && (bpf_obj_get_info_by_fd(fd, &info, &len) || info.type != BPF_MAP_TYPE_ARRAY ||
		     info.value_size < 8 || info.value_size > sizeof(value) ||
		     bpf_map_lookup_elem(fd, &(__u32){ 0 }, value)))
		err = -EPROTO;
	close(fd);
	if (err)
		return not_ours(dir, "holds a \"meta\" that is not ours");
	memcpy(meta, value, info.value_size < sizeof(*meta) ? info.value_size : sizeof(*meta));
	if (meta->magic != META_MAGIC)
		return not_ours(dir, "holds a \"meta\" that is not ours");
	if (meta->version != META_VERSION || info.value_size != sizeof(*meta))
		return complain(-EPROTO, text("nicprobe detach %s --force", pins_iface(dir)),
				"%s was made by another version of nicprobe", dir);
	return 0;
}

int meta_write(const char *dir, const struct meta *meta)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "nicprobe_meta", 4, sizeof(*meta), 1, NULL);
	int err = 0;

	if (fd < 0 || bpf_map_update_elem(fd, &(__u32){ 0 }, meta, 0) ||
	    bpf_obj_pin(fd, text("%s/meta", dir)))
		err = complain(-errno, NULL, "cannot pin %s/meta: %s", dir, strerror(errno));
	if (fd >= 0)
		close(fd);
	return err;
}

/* A link's last pin: held open meanwhile, it is gone when close() returns, not some time later. */
static void pin_remove(const char *path)
{
	int fd = bpf_obj_get(path);

	if (unlink(path) && errno == EISDIR)
		rmdir(path);
	if (fd >= 0)
		close(fd);
}

int pins_remove(const char *dir)
{
	struct dirent *entry;
	DIR *d = opendir(dir);

	if (!d)
		return -errno;
	/* meta first: what is half gone must not look whole */
	pin_remove(text("%s/meta", dir));
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.')
			pin_remove(text("%s/%s", dir, entry->d_name));
	closedir(d);
	return rmdir(dir) ? -errno : 0;
}

void pins_tidy(void)
{
	struct dirent *entry;
	DIR *d = opendir(PINS_ROOT);

	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			rmdir(text(PINS_ROOT "/%s", entry->d_name));
	if (d)
		closedir(d);
	rmdir(PINS_ROOT);
}

bool pins_dead(const char *dir)
{
	static const char *const links[] = { "tc", "xdp_link" };
	unsigned dead = 0, alive = 0;

	for (unsigned i = 0; i < sizeof(links) / sizeof(*links); i++) {
		int fd = bpf_obj_get(text("%s/%s", dir, links[i]));
		struct bpf_link_info info = {};
		__u32 len = sizeof(info);

		/* an ifindex is the first word for tcx, too */
		if (fd >= 0 && bpf_fd_type(fd) == 'l' &&
		    !bpf_obj_get_info_by_fd(fd, &info, &len)) {
			dead += !info.xdp.ifindex;
			alive += !!info.xdp.ifindex;
		}
		if (fd >= 0)
			close(fd);
	}
	return dead && !alive;		/* some alone were cut off by somebody */
}

static int each_in(const char *parent, __u32 netns,
		   int (*fn)(const char *, __u32, const char *, void *), void *arg)
{
	struct dirent **list;
	int n = scandir(parent, &list, NULL, alphasort), ret = 0;

	for (int i = 0; i < n; i++) {
		char *name = list[i]->d_name;

		if (!ret && *name != '.') {
			char dir[256];

			pins_dir(dir, sizeof(dir), netns, name);
			swap(name, ':', '.');
			ret = fn(dir, netns, name, arg);
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return ret;
}

int pins_each(int (*fn)(const char *dir, __u32 netns, const char *iface, void *arg), void *arg)
{
	struct dirent **list;
	int n = scandir(PINS_ROOT, &list, NULL, alphasort), ret = 0;

	for (int i = 0; i < n; i++) {
		char *end;
		__u32 netns = strtoul(list[i]->d_name, &end, 10);

		if (!ret && !*end && end != list[i]->d_name)
			ret = each_in(text(PINS_ROOT "/%u", netns), netns, fn, arg);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return ret;
}

struct wanted {
	__u32 netns;
	unsigned ifindex;
	char *dir;
	size_t size;
};

static int is_it(const char *dir, __u32 netns, const char *iface, void *arg)
{
	struct wanted *w = arg;
	struct meta meta;

	(void)iface;
	if (netns != w->netns || meta_read(dir, &meta) || meta.ifindex != w->ifindex)
		return 0;
	snprintf(w->dir, w->size, "%s", dir);
	return 1;
}

bool pins_find(__u32 netns, unsigned ifindex, char *dir, size_t size)
{
	struct wanted w = { netns, ifindex, dir, size };
	bool found = pins_each(is_it, &w);

	if (!found)
		complaints_forget();
	return found;
}
