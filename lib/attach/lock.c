/* SPDX-License-Identifier: GPL-2.0 */
/* A lock with a limited wait: the error names the process that holds it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "lib/attach/lock.h"
#include "lib/proc/holders.h"
#include "lib/util/clock.h"
#include "lib/util/error.h"
#include "lib/util/interrupt.h"
#include "lib/util/log.h"

#define STEP	2		/* ms between two tries */
#define MOST	20000		/* ms: our longest operation, an attach, takes some seconds */
#define STOPPED	2000		/* ms: a stopped process will not release it soon */

/* The holder; of several readers, one that is stopped. pid 0: the kernel does not tell. */
static struct holder holder_of(int fd)
{
	FILE *f = fopen("/proc/locks", "re");
	struct holder found = {};
	char line[256];
	struct stat st;

	while (f && !fstat(fd, &st) && !found.stopped && fgets(line, sizeof(line), f)) {
		unsigned long long inode;
		struct holder h = {};
		unsigned major, minor;

		/* not those that wait: their lines have "->" before FLOCK */
		if (sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%llu", &h.pid, &major, &minor,
			   &inode) != 4 || h.pid <= 0 || h.pid == getpid() ||
		    makedev(major, minor) != st.st_dev || inode != st.st_ino)
			continue;
		holder_look(&h);
		if (!found.pid || h.stopped)
			found = h;
	}
	if (f)
		fclose(f);
	return found;
}

static int give_up(const char *path, const struct holder *h, int ms, struct error *e)
{
	if (!h->pid)
		return error_set(e, -EBUSY, NULL,
				 "%s is locked for %d s now by a process that cannot "
				 "be seen from here", path, ms / 1000);
	return error_set(e, -EBUSY, text(h->stopped ? "kill -CONT %d" : "ps -fp %d", h->pid),
			 "%s is locked for %d s now by the process %d (%s)%s", path, ms / 1000,
			 h->pid, *h->name ? h->name : "gone",
			 h->stopped ? ", which is stopped" : "");
}

static int now_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000000 % 1000000000;
}

int lock_wait(int fd, const char *path, bool exclusive, struct error *e)
{
	int begin = now_ms(), look = STOPPED;

	while (flock(fd, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB)) {
		int ms = now_ms() - begin;

		if (errno != EWOULDBLOCK && errno != EINTR)
			return error_set(e, -errno, NULL, "cannot lock %s: %s", path,
					 strerror(errno));
		if (interrupted())
			return error_set(e, -EINTR, NULL, "interrupted");
		if (ms >= look) {
			struct holder h = holder_of(fd);

			if (h.stopped || ms >= MOST)
				return give_up(path, &h, ms, e);
			look += STOPPED;
		}
		nanosleep(&(struct timespec){ .tv_nsec = STEP * 1000000 }, NULL);
	}
	return 0;
}
