/* SPDX-License-Identifier: GPL-2.0 */
/* Network namespaces: identify the current one, map names to inodes, enter others. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/net/here.h"
#include "lib/net/iface.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

#define NAMES	"/run/netns"	/* where ip(8) keeps them */

int netns_known(__u32 *inode, struct error *e)
{
	*inode = netns_inode();
	if (*inode)
		return 0;
	/* -ENOENT would mean that there is no such namespace */
	return error_set(e, errno == ENOENT ? -EIO : -errno,
			 errno == ENOENT ? "mount -t proc proc /proc" : NULL,
			 "cannot identify this network namespace: " NETNS_OURS ": %s",
			 strerror(errno));
}

/* The inode behind a name; 0: none, or the plain file that a deleted namespace left. */
static __u32 inode_of(const char *name)
{
	static dev_t nsfs;	/* one device for all namespaces */
	char path[sizeof(NAMES) + 256];	/* not text(): called while sentences are built */
	struct stat st;

	if (!nsfs && !stat(NETNS_OURS, &st))
		nsfs = st.st_dev;
	snprintf(path, sizeof(path), NAMES "/%s", name);
	if (stat(path, &st) || st.st_dev != nsfs)
		return 0;
	return st.st_ino;
}

/* `name` comes from a user or from readdir(): accept only a file in that directory. */
static bool is_name(const char *name)
{
	return name[0] && name[0] != '.' && !strchr(name, '/') && strlen(name) <= 255;
}

__u32 netns_named(const char *name)
{
	return is_name(name) ? inode_of(name) : 0;
}

static int visible(const struct dirent *e)
{
	return is_name(e->d_name);
}

/* All names, sorted; free each, and the list. */
static int names_list(struct dirent ***names)
{
	int n = scandir(NAMES, names, visible, alphasort);

	if (n < 0) {
		*names = NULL;
		return 0;
	}
	return n;
}

static void names_free(struct dirent **names, int n)
{
	while (n > 0)
		free(names[--n]);
	free(names);
}

static int enter_failed(const char *name, int err, struct error *e)
{
	if (err == EPERM)
		return error_set(e, -err, "run it as root",
				 "cannot enter network namespace \"%s\": that needs CAP_SYS_ADMIN",
				 name);
	if (err == EINVAL)
		return error_set(e, -err, text("ip netns delete %s", name),
				 "\"%s\" is a stale name: its network namespace is gone",
				 name);
	return error_set(e, -err, "", "cannot enter network namespace \"%s\": %s", name,
			 strerror(err));
}

static char last[256];	/* entered or found: it is asked for often, and one lookup verifies it */

int netns_enter(const char *name, struct error *e)
{
	int fd = -1, err;

	if (is_name(name))
		fd = open(text(NAMES "/%s", name), O_RDONLY | O_CLOEXEC);
	else
		errno = ENOENT;
	if (fd < 0 && errno == ENOENT)
		return error_set(e, -ENOENT, "ip netns list", "no network namespace \"%.64s\"",
				 name);
	err = fd < 0 ? -errno : netns_go(fd);
	if (fd >= 0)
		close(fd);
	if (err)
		return enter_failed(name, -err, e);
	strcpy(last, name);
	return 0;
}

bool netns_name(__u32 inode, char *name, unsigned size)
{
	struct dirent **names;
	bool found = inode && inode == netns_inode();
	int n;

	if (size)
		name[0] = '\0';
	if (found || !inode)
		return found;
	if (*last && inode_of(last) == inode && strlen(last) < size) {
		strcpy(name, last);
		return true;
	}
	n = names_list(&names);
	for (int i = 0; i < n && !found; i++) {
		if (inode_of(names[i]->d_name) != inode || strlen(names[i]->d_name) >= size)
			continue;
		strcpy(name, names[i]->d_name);
		strcpy(last, name);
		found = true;
	}
	names_free(names, n);
	return found;
}

int netns_enter_inode(__u32 inode, struct error *e)
{
	char name[256];

	if (!netns_name(inode, name, sizeof(name)))
		return error_set(e, -ENOENT,
				 "ip netns attach NAME PID, with a process that is in it",
				 "network namespace %u has no name by which to enter it", inode);
	return name[0] ? netns_enter(name, e) : 0;
}

int netns_enter_same(__u32 inode, __u64 cookie, struct error *e)
{
	__u32 here;
	int err = netns_known(&here, e) ?: inode == here ? 0 : netns_enter_inode(inode, e);
	__u64 now = err ? 0 : netns_cookie();

	if (err || !now || !cookie || now == cookie)
		return err;
	return error_set(e, -ESTALE, NULL,
			 "network namespace %u is gone, and its number was reused", inode);
}

/* A namespace may have several names, and our own may have one, too. */
static bool seen_before(__u32 inode, __u32 *seen, unsigned *nr)
{
	for (unsigned i = 0; i < *nr; i++)
		if (seen[i] == inode)
			return true;
	seen[(*nr)++] = inode;
	return false;
}

static bool each_name(struct dirent **names, int n, bool (*fn)(const char *, void *), void *arg,
		      struct error *e)
{
	__u32 *seen = calloc(n + 1, sizeof(*seen));
	unsigned nr = 0;
	bool stop = false;

	if (!seen)
		return false;
	seen_before(netns_inode(), seen, &nr);
	for (int i = 0; i < n && !stop; i++) {
		const char *name = names[i]->d_name;
		__u32 inode = inode_of(name);

		/* Deleted meanwhile, or a stale name: no message. */
		if (!inode || seen_before(inode, seen, &nr))
			continue;
		if (!netns_enter(name, e))
			stop = fn(name, arg);
	}
	free(seen);
	return stop;
}

bool netns_each(bool (*fn)(const char *name, void *arg), void *arg, struct error *e)
{
	struct dirent **names;
	bool stop = fn("", arg);
	int home, n, err;

	if (stop)
		return true;
	n = names_list(&names);
	home = n ? open(NETNS_OURS, O_RDONLY | O_CLOEXEC) : -1;
	/* If we cannot enter our own namespace again, we do not leave it. */
	if (home >= 0 && (err = netns_go(home))) {
		error_set(e, err, "run it as root",
			  "cannot enter other network namespaces: that needs CAP_SYS_ADMIN");
	} else if (home >= 0) {
		stop = each_name(names, n, fn, arg, e);
		err = netns_go(home);
		if (err)
			error_set(e, err, "", "cannot return to our own network namespace: %s",
				  strerror(-err));
	}
	if (home >= 0)
		close(home);
	names_free(names, n);
	return stop;
}
