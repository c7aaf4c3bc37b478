/* SPDX-License-Identifier: GPL-2.0 */
/* The links that are pinned in a directory, and the programs they run. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/attach/held.h"
#include "lib/attach/linked.h"
#include "lib/attach/pins.h"
#include "lib/util/clock.h"
#include "lib/util/dir_time.h"
#include "lib/util/grow.h"
#include "lib/util/hash.h"
#include "lib/util/list.h"
#include "lib/util/log.h"

/* Two directories may meet in one place: the later one is read anew. */
static struct linked_dir {
	char dir[256];
	bool (*asked)(const char *name);
	struct stat st;
	struct linked_all links;
} known[64];

int link_info(const char *pin, struct bpf_link_info *info)
{
	__u32 len = sizeof(*info);
	int fd = bpf_obj_get(pin), err;

	memset(info, 0, sizeof(*info));
	if (fd < 0)
		return -errno;
	err = bpf_fd_type(fd) != 'l' ? -EINVAL :
	      bpf_obj_get_info_by_fd(fd, info, &len) ? -errno : 0;
	close(fd);
	return err;
}

__u32 link_program(const char *pin)
{
	struct bpf_link_info info;

	link_info(pin, &info);
	return info.prog_id;
}

__u64 program_misses(__u32 program)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
	int held = held_program(program);
	int fd = held >= 0 || !program ? held : bpf_prog_get_fd_by_id(program);

	if (fd < 0)
		return 0;
	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		info.recursion_misses = 0;
	if (held < 0)
		close(fd);
	return info.recursion_misses;
}

static struct linked_dir *place_of_dir(const char *dir)
{
	return &known[text_hash(dir) % NR_OF(known)];
}

static void add(struct linked_all *l, const char *dir, const char *name, bool ask)
{
	struct linked *more = grow(l->list, l->nr, sizeof(*more));
	struct bpf_link_info info = {};

	if (!more || strlen(name) >= sizeof(more->name))
		return;
	l->list = more;
	more += l->nr++;
	*more = (struct linked){};
	strcpy(more->name, name);
	/* links can be opened to write alone: only who may take them away can ask them */
	l->hidden |= ask && link_info(text("%s/%s", dir, name), &info) == -EACCES;
	more->program = info.prog_id;
}

const struct linked_all *linked_in(const char *dir, bool (*listed)(const char *name),
				   bool (*asked)(const char *name))
{
	struct linked_dir *k = place_of_dir(dir);
	uint64_t now = clock_ns(CLOCK_REALTIME);
	struct dirent *entry;
	struct stat st = {};
	DIR *d;

	if (!stat(dir, &st) && k->asked == asked && !strcmp(k->dir, dir) && dir_same(&k->st, &st))
		return &k->links;
	/* it may be a text(), which does not last */
	snprintf(k->dir, sizeof(k->dir), "%s", dir);
	k->links.nr = 0;
	k->links.hidden = false;
	d = opendir(k->dir);
	while (d && (entry = readdir(d)))
		if (listed(entry->d_name))
			add(&k->links, k->dir, entry->d_name, asked(entry->d_name));
	if (d)
		closedir(d);
	k->asked = d && !k->links.hidden && dir_settled(&st, now) ? asked : NULL;
	k->st = st;
	return &k->links;
}
