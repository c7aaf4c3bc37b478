/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the processes that have sockets open, by what /proc/PID/fd leads to. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "holders.h"
#include "log.h"

/* All sockets there were when we looked last, by inode, then by process. */
static struct open {
	__u32 inode;
	int pid, fd;
} *all;
static unsigned nr;
static time_t looked;

static bool leads_to(const char *link, __u32 *inode)
{
	char to[32];
	ssize_t len = readlink(link, to, sizeof(to) - 1);

	to[len > 0 ? len : 0] = '\0';
	return sscanf(to, "socket:[%u]", inode) == 1;
}

static void add(struct open one)
{
	struct open *more = all;

	if (!(nr & (nr - 1)))	/* as many as there is room for */
		more = realloc(all, (nr ? 2 * nr : 1) * sizeof(*more));
	if (!more)
		return;
	all = more;
	all[nr++] = one;
}

static void process_look(int pid)
{
	DIR *dir = opendir(text("/proc/%d/fd", pid));
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		struct open one = { .pid = pid, .fd = atoi(e->d_name) };

		if (isdigit((unsigned char)*e->d_name) &&
		    leads_to(text("/proc/%d/fd/%d", pid, one.fd), &one.inode))
			add(one);
	}
	if (dir)
		closedir(dir);
}

static int by_inode(const void *a, const void *b)
{
	const struct open *x = a, *y = b;

	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* At most once per second: a large machine has many files open. */
static bool look(void)
{
	struct timespec now;
	const struct dirent *e;
	DIR *dir;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (looked == now.tv_sec + 1)
		return false;
	looked = now.tv_sec + 1;	/* 0: never */
	free(all);
	all = NULL;
	nr = 0;
	dir = opendir("/proc");
	while (dir && (e = readdir(dir)))
		if (isdigit((unsigned char)*e->d_name))
			process_look(atoi(e->d_name));
	if (dir)
		closedir(dir);
	if (nr)
		qsort(all, nr, sizeof(*all), by_inode);
	return true;
}

static void name_read(int pid, char name[16])
{
	FILE *f = fopen(text("/proc/%d/comm", pid), "re");
	char *to = name;

	if (f && !fgets(name, 16, f))
		*name = '\0';
	if (f)
		fclose(f);
	for (char *c = name; *c; c++)
		if (!iscntrl((unsigned char)*c))
			*to++ = *c;
	*to = '\0';
}

/* Of those we know, one that still has it. */
static bool find(__u32 inode, struct holder *h)
{
	__u32 now;

	for (unsigned i = 0; i < nr && all[i].inode <= inode; i++) {
		if (all[i].inode != inode || !leads_to(text("/proc/%d/fd/%d", all[i].pid,
							    all[i].fd), &now) || now != inode)
			continue;
		*h = (struct holder){ .pid = all[i].pid };
		name_read(h->pid, h->name);
		return true;
	}
	return false;
}

bool holder_find(__u32 inode, struct holder *h)
{
	*h = (struct holder){};
	return find(inode, h) || (look() && find(inode, h));
}
