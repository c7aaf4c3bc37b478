/* SPDX-License-Identifier: GPL-2.0 */
/* The directories of pins: makes, locks, reads and removes them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/attach/bpffs.h"
#include "lib/attach/held.h"
#include "lib/attach/linked.h"
#include "lib/attach/lock.h"
#include "lib/attach/pinned.h"
#include "lib/attach/pins.h"
#include "lib/core/hook.h"
#include "lib/net/here.h"
#include "lib/net/iface.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

int pins_lock(bool exclusive, struct error *e)
{
	struct stat locked, there;
	int fd, err;

	for (;;) {
		if (exclusive) {
			err = bpffs_mount(e);
			if (err)
				return err;
			if (mkdir(PINS_ROOT, 0700) && errno != EEXIST)
				return error_set(e, -errno, NULL, "cannot make " PINS_ROOT ": %s",
						 strerror(errno));
		}
		fd = bpffs_open(PINS_ROOT, e);
		if (fd == -ENOENT) {
			if (exclusive)
				continue;	/* a detach removed it in between */
			return bpffs_missing(e) < 0 ? -ENODEV : -ENOENT;
		}
		if (fd < 0)
			return fd;
		err = lock_wait(fd, PINS_ROOT, exclusive, e);
		if (err) {
			close(fd);
			return err;
		}
		/* The last detach removes the root: the directory just locked may be gone. */
		if (!fstat(fd, &locked) && !lstat(PINS_ROOT, &there) &&
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
		/* the first for a new link, the second for one opened from its pin; 5.8 */
		{ "anon_inode:bpf_link", 'l' }, { "anon_inode:bpf-link", 'l' },
	};
	char link[64] = "";

	if (readlink(text("/proc/self/fd/%d", fd), link, sizeof(link) - 1) > 0)
		for (unsigned i = 0; i < sizeof(types) / sizeof(*types); i++)
			if (!strcmp(link, types[i].link))
				return types[i].type;
	return 0;
}

static int not_ours(const char *dir, const char *why, struct error *e)
{
	return error_set(e, -EPROTO, text("rm -r %s, when nothing there is needed", dir), "%s %s",
			 dir, why);
}

/* The interface of a directory, as `detach` takes it: the inverse of pins_dir(). */
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
	/* not a bare name: our current namespace may not be the user's */
	if (netns_name(inode, netns, sizeof(netns)) && *netns)
		return text("%s/%s", netns, name);
	return text("netns:%u/%s", inode, name);
}

/* The map of that name, if it may be ours; 'e' says why not. 0 or -errno. */
static int meta_open(const char *dir, struct pinned_map *m, struct error *e)
{
	const char *path = text("%s/meta", dir);
	struct stat st;
	int fd = bpffs_open(dir, e);

	if (fd < 0)
		return fd;
	close(fd);
	fd = pin_open(path);
	/* the kernel also returns EACCES for what is no pin */
	if (fd < 0 && errno == EACCES && !lstat(path, &st) && !S_ISREG(st.st_mode))
		return not_ours(dir, "holds a \"meta\" that is not ours", e);
	if (fd < 0)
		return errno == ENOENT ? -ENODATA :
		       error_set(e, -errno, errno == EACCES ? "run it as root" : NULL,
				 "cannot open %s: %s", path, strerror(errno));
	*m = map_opened(fd);
	if (m->fd < 0)
		return error_set(e, -errno, NULL, "cannot read %s: %s", path, strerror(errno));
	return 0;
}

int meta_read(const char *dir, struct meta *meta, struct error *e)
{
	const struct pinned_map *held = held_pin(text("%s/meta", dir));
	struct pinned_map m = held ? *held : (struct pinned_map){};
	unsigned char value[16384];	/* it may be of another version, and larger */
	int err = held ? 0 : meta_open(dir, &m, e);

	_Static_assert(sizeof(value) >= sizeof(*meta), "room for our own");
	if (err)
		return err;
	/*
	 * Only a map has a value: the info of a program or link has another layout. Not by the
	 * map's name: libbpf omits it if it believes that the kernel has no names.
	 */
	if (m.info.type != BPF_MAP_TYPE_ARRAY || m.info.value_size < 8 ||
	    m.info.value_size > sizeof(value))
		err = EINVAL;
	if (!err && bpf_map_lookup_elem(m.fd, &(__u32){ 0 }, value))
		err = errno;
	if (!held && !err)
		held_pin_keep(text("%s/meta", dir), &m);
	pin_close(&m);
	if (err && err != EINVAL)
		return error_set(e, -err, NULL, "cannot read %s/meta: %s", dir, strerror(err));
	if (err)
		return not_ours(dir, "holds a \"meta\" that is not ours", e);
	memcpy(meta, value, m.info.value_size < sizeof(*meta) ? m.info.value_size : sizeof(*meta));
	if (meta->magic != META_MAGIC)
		return not_ours(dir, "holds a \"meta\" that is not ours", e);
	if (meta->version != meta_version() || m.info.value_size != sizeof(*meta))
		return error_set(e, -EPROTO, text("nicprobe detach %s --force", pins_iface(dir)),
				 "%s was made by another version of nicprobe", dir);
	return 0;
}

int meta_write(const char *dir, const struct meta *meta, struct error *e)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "nicprobe_meta", 4, sizeof(*meta), 1, NULL);
	int err = 0;

	if (fd < 0 || bpf_map_update_elem(fd, &(__u32){ 0 }, meta, 0) ||
	    bpf_obj_pin(fd, text("%s/meta", dir)))
		err = error_set(e, -errno, NULL, "cannot pin %s/meta: %s", dir, strerror(errno));
	if (fd >= 0)
		close(fd);
	return err;
}

int meta_update(const char *dir, const struct meta *meta, struct error *e)
{
	int fd = bpf_obj_get(text("%s/meta", dir)), err = 0;

	if (fd < 0 || bpf_map_update_elem(fd, &(__u32){ 0 }, meta, 0))
		err = error_set(e, -errno, NULL, "cannot write %s/meta: %s", dir, strerror(errno));
	if (fd >= 0)
		close(fd);
	return err;
}

/* The last pin of a link: as it is held open, it ends when close() returns, and not later. */
static void entry_remove(int dir, const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	int fd = bpf_obj_get(path);

	if (unlinkat(dir, name, 0) && errno == EISDIR)
		unlinkat(dir, name, AT_REMOVEDIR);
	if (fd >= 0)
		close(fd);
}

void pin_remove(const char *path)
{
	int dir = bpffs_open(text("%.*s", (int)(strrchr(path, '/') - path), path), NULL);

	if (dir < 0)
		return;
	entry_remove(dir, path);
	close(dir);
}

/* Works on descriptors: a path could lead elsewhere by the time it is used. */
int pins_remove(const char *dir, struct error *e)
{
	const char *slash = strrchr(dir, '/');
	bool named = bpffs_below(dir);
	int parent = named ? bpffs_open(text("%.*s", (int)(slash - dir), dir), e) : -1;
	int fd = bpffs_open(dir, e), err = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if ((named && parent < 0) || !d) {
		err = named && parent < 0 ? parent : fd < 0 ? fd : -errno;
	} else {
		/* meta first: a partly removed attach must not look complete */
		entry_remove(fd, text("%s/meta", dir));
		while ((entry = readdir(d)))
			if (entry->d_name[0] != '.')
				entry_remove(fd, text("%s/%s", dir, entry->d_name));
		if (named && unlinkat(parent, slash + 1, AT_REMOVEDIR))
			err = -errno;
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	if (parent >= 0)
		close(parent);
	return err;
}

/* What interfaces share: it goes with the last of them. */
static bool is_shared(const char *name)
{
	return !strncmp(name, SHARED_DIR, strlen(SHARED_DIR));
}

void pins_tidy(void)
{
	int fd = bpffs_open(PINS_ROOT, NULL);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	bool left = false;
	char dir[256];

	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.' && unlinkat(fd, entry->d_name, AT_REMOVEDIR))
			left |= !is_shared(entry->d_name);
	if (d && !left)
		rewinddir(d);
	while (d && !left && (entry = readdir(d)))
		if (is_shared(entry->d_name)) {
			snprintf(dir, sizeof(dir), PINS_ROOT "/%.100s", entry->d_name);
			pins_remove(dir, NULL);
		}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	rmdir(PINS_ROOT);
}

/* Are all links cut off that end with their device? If only some are, somebody did that. */
static bool pins_dead(const char *dir)
{
	struct bpf_link_info info;
	bool dead = false;

	for (const struct hook *const *t = hooks; *t; t++) {
		if (!(*t)->link || link_info(text("%s/%s", dir, (*t)->link), &info))
			continue;
		/* the info of a tcx link also begins with an ifindex */
		if (info.xdp.ifindex)
			return false;
		dead = true;
	}
	return dead;
}

/* Links tell less than the inode: somebody may have cut off the only one. */
bool pins_of_other(const char *dir, const struct meta *meta, __u64 inode)
{
	return meta->inode && inode ? meta->inode != inode : pins_dead(dir);
}

/* The names in a directory, sorted; free each and the list. */
static int names_in(const char *dir, struct dirent ***list)
{
	int fd = bpffs_open(dir, NULL), n = fd < 0 ? -1 : scandirat(fd, ".", list, NULL, alphasort);

	if (fd >= 0)
		close(fd);
	return n;
}

static int each_in(const char *parent, __u32 netns,
		   int (*fn)(const char *, __u32, const char *, void *), void *arg)
{
	struct dirent **list;
	int n = names_in(parent, &list), ret = 0;

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
	int n = names_in(PINS_ROOT, &list), ret = 0;

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

struct pins_wanted {
	__u32 netns;
	unsigned ifindex;
	char *dir;
	size_t size;
};

static int is_it(const char *dir, __u32 netns, const char *iface, void *arg)
{
	struct pins_wanted *w = arg;
	struct meta meta;

	(void)iface;
	if (netns != w->netns || meta_read(dir, &meta, NULL) || meta.ifindex != w->ifindex)
		return 0;
	/* compare the cookie from within: the inode may have been another namespace's */
	if (netns == netns_inode() && netns_enter_same(netns, meta.cookie, NULL))
		return 0;
	snprintf(w->dir, w->size, "%s", dir);
	return 1;
}

bool pins_find(__u32 netns, unsigned ifindex, char *dir, size_t size)
{
	struct pins_wanted w = { netns, ifindex, dir, size };
	char name[IFNAMSIZ], first[256];

	if (netns == netns_inode() && iface_name_of(ifindex, name)) {
		pins_dir(first, sizeof(first), netns, name);
		if (is_it(first, netns, name, &w))
			return true;
	}
	return each_in(text(PINS_ROOT "/%u", netns), netns, is_it, &w);
}
