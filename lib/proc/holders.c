/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the processes that hold sockets open, by the links in /proc/PID/fd. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/proc/holders.h"
#include "lib/util/clock.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"

/* Every socket of the last scan, by inode, then by process. */
static struct open_socket {
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

static void add(struct open_socket one)
{
	struct open_socket *more = grow(all, nr, sizeof(*more));

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
		struct open_socket one = { .pid = pid, .fd = atoi(e->d_name) };

		if (isdigit((unsigned char)*e->d_name) &&
		    leads_to(text("/proc/%d/fd/%d", pid, one.fd), &one.inode))
			add(one);
	}
	if (dir)
		closedir(dir);
}

static int by_inode(const void *a, const void *b)
{
	const struct open_socket *x = a, *y = b;

	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* At most once per second: a large machine has many open files. */
static bool look(void)
{
	time_t now = clock_ns(CLOCK_MONOTONIC) / 1000000000;
	const struct dirent *e;
	DIR *dir;

	if (looked == now + 1)
		return false;
	looked = now + 1;	/* 0: never */
	free(all);
	all = NULL;
	nr = 0;
	dir = opendir("/proc");
	while (dir && (e = readdir(dir)))
		if (atoi(e->d_name) > 0)
			process_look(atoi(e->d_name));
	if (dir)
		closedir(dir);
	if (nr)
		qsort(all, nr, sizeof(*all), by_inode);
	return true;
}

/* "1234 (name) T ...": the name may contain blanks and parentheses. */
void holder_look(struct holder *h)
{
	FILE *f = fopen(text("/proc/%d/stat", h->pid), "re");
	char line[128] = "", *end = f && fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	const char *from = strchr(line, '(');
	unsigned len = 0;

	if (f)
		fclose(f);
	if (!end || !from)
		return;
	for (from++; from < end && len < sizeof(h->name) - 1; from++)
		h->name[len++] = iscntrl((unsigned char)*from) ? '?' : *from;
	h->stopped = !strncmp(end, ") T", 3) || !strncmp(end, ") t", 3);
}

/* The first of the last scan whose inode is no less. */
static unsigned first(__u32 inode)
{
	unsigned from = 0, end = nr;

	while (from < end) {
		unsigned middle = (from + end) / 2;

		if (all[middle].inode < inode)
			from = middle + 1;
		else
			end = middle;
	}
	return from;
}

/* A process of the last scan that still holds it. */
static bool find(__u32 inode, struct holder *h)
{
	__u32 now;

	for (unsigned i = first(inode); i < nr && all[i].inode == inode; i++) {
		if (!leads_to(text("/proc/%d/fd/%d", all[i].pid,
							    all[i].fd), &now) || now != inode)
			continue;
		*h = (struct holder){ .pid = all[i].pid };
		holder_look(h);
		return true;
	}
	return false;
}

bool holder_find(__u32 inode, struct holder *h)
{
	*h = (struct holder){};
	return find(inode, h) || (look() && find(inode, h));
}
