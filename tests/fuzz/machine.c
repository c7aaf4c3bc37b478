/* SPDX-License-Identifier: GPL-2.0 */
/* A fake machine for the fuzzer: directories, links, locks, clock and BPF programs. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "bpf/wifi/radio.h"
#include "lib/attach/pins.h"
#include "lib/core/hook.h"
#include "lib/hw/hw.h"
#include "lib/kernel/programs.h"
#include "lib/proc/holders.h"
#include "world.h"

#define STEP	3		/* seconds by which the clock advances per reading */
#define MOST	32		/* of a directory */

static time_t now;

struct listing {
	unsigned left;
	struct dirent entry;
};

DIR *fuzz_opendir(const char *path);
struct dirent *fuzz_readdir(DIR *);
int fuzz_closedir(DIR *);
int fuzz_scandir(const char *path, struct dirent ***, int (*)(const struct dirent *),
		 int (*)(const struct dirent **, const struct dirent **));
ssize_t fuzz_readlink(const char *path, char *to, size_t size);
int fuzz_clock_gettime(clockid_t, struct timespec *);
int fuzz_nanosleep(const struct timespec *, struct timespec *);
int fuzz_flock(int fd, int operation);
int fuzz_fstat(int fd, struct stat *);
int fuzz_setns(int fd, int type);
int fuzz_access(const char *path, int mode);
int fuzz_fsopen(const char *kind, unsigned flags);
long fuzz_syscall(long number, ...);

DIR *fuzz_opendir(const char *path)
{
	struct listing *l = calloc(1, sizeof(*l));

	(void)path;
	if (!l)
		abort();
	l->left = world_number(1) % MOST;
	return (DIR *)l;
}

/* Valid file names: not empty, no slash. */
struct dirent *fuzz_readdir(DIR *dir)
{
	struct listing *l = (void *)dir;
	char *name, *slash;
	size_t size;

	if (!l->left--)
		return NULL;
	name = world_take(world_number(1), &size);
	while ((slash = strchr(name, '/')))
		*slash = '0';
	snprintf(l->entry.d_name, sizeof(l->entry.d_name), "%s", *name ? name : "1");
	free(name);
	return &l->entry;
}

int fuzz_closedir(DIR *dir)
{
	free(dir);
	return 0;
}

/* No namespace has a name, so the fuzzer does not enter those of this machine. */
int fuzz_scandir(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
		 int (*order)(const struct dirent **, const struct dirent **))
{
	(void)path, (void)list, (void)filter, (void)order;
	return -1;
}

ssize_t fuzz_readlink(const char *path, char *to, size_t size)
{
	size_t nr, most = world_number(1);
	char *link = world_take(most < size ? most : size, &nr);

	(void)path;
	memcpy(to, link, nr);
	free(link);
	errno = ENOENT;
	return nr ? (ssize_t)nr : -1;
}

int fuzz_clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	*t = (struct timespec){ .tv_sec = now += STEP };
	return 0;
}

int fuzz_nanosleep(const struct timespec *wanted, struct timespec *rest)
{
	(void)wanted, (void)rest;
	return 0;
}

/* The lock is held by somebody else until the input is used up. */
int fuzz_flock(int fd, int operation)
{
	(void)fd, (void)operation;
	errno = EWOULDBLOCK;
	return world_number(1) ? -1 : 0;
}

int fuzz_fstat(int fd, struct stat *st)
{
	(void)fd;
	*st = (struct stat){ .st_dev = makedev(0, 0x1b), .st_ino = 17 };
	return 0;
}

int fuzz_setns(int fd, int type)
{
	(void)fd, (void)type;
	return 0;
}

int fuzz_access(const char *path, int mode)
{
	(void)path, (void)mode;
	errno = ENOENT;
	return world_number(1) ? -1 : 0;
}

/* Nothing is mounted anywhere. */
int fuzz_fsopen(const char *kind, unsigned flags)
{
	(void)kind, (void)flags;
	errno = EPERM;
	return -1;
}

/* No PMU. */
long fuzz_syscall(long number, ...)
{
	(void)number;
	errno = ENOENT;
	return -1;
}

void machine_begin(void)
{
	struct holder h;

	now = 0;
	world_begin((const uint8_t *)"", 0, false);
	holder_find(0, &h);	/* drops the sockets of the previous input */
}

/* BPF functions of libbpf, libxdp and lib/kernel/programs.c. */
int __wrap_bpf_prog_query_opts(int target, enum bpf_attach_type type,
			       struct bpf_prog_query_opts *opts);
struct xdp_multiprog *__wrap_xdp_multiprog__get_from_ifindex(int ifindex);

int __wrap_bpf_prog_query_opts(int target, enum bpf_attach_type type,
			       struct bpf_prog_query_opts *opts)
{
	__u32 room = opts->prog_cnt;

	(void)target, (void)type;
	opts->prog_cnt = world_number(1);
	for (__u32 i = 0; i < opts->prog_cnt && i < room; i++)
		opts->prog_ids[i] = world_number(1);
	return world_number(1) == 0xff ? -EPERM : 0;
}

struct xdp_multiprog *__wrap_xdp_multiprog__get_from_ifindex(int ifindex)
{
	(void)ifindex;
	return (void *)-ENOENT;
}

const char *program_name(__u32 id)
{
	static char name[128];
	size_t size;
	char *piece = id ? world_take(id % sizeof(name), &size) : NULL;

	snprintf(name, sizeof(name), "%s", piece ?: "xdp_dispatcher");
	free(piece);
	return name;
}

bool program_uses(__u32 id, __u32 map)
{
	return id == map;
}

__u32 program_pinned(const char *path)
{
	(void)path;
	return 7;
}

__u32 map_pinned(const char *path)
{
	(void)path;
	return 7;
}

const char *pin_path(const struct site *site, const char *name)
{
	(void)site;
	return name;
}

bool pins_find(__u32 netns, unsigned ifindex, char *dir, size_t size)
{
	(void)netns, (void)ifindex;
	snprintf(dir, size, "/sys/fs/bpf/nicprobe/1/eth0");
	return true;
}

bool wifi_radio(const char *iface, unsigned ifindex, char radio[WIFI_RADIO])
{
	(void)iface, (void)ifindex;
	snprintf(radio, WIFI_RADIO, "phy0");
	return true;
}

void hw_note(struct hw *h, const char *of, const char *why, ...)
{
	(void)of, (void)why;
	h->nr_notes++;
}
