/* SPDX-License-Identifier: GPL-2.0 */
/* Maps stay open from round to round, as long as nothing in the directory of their pins changes. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/attach/bpffs.h"
#include "lib/attach/held.h"
#include "lib/attach/pinned.h"

#define SUBJECT "held: "
#include "check.h"

#define DIR	BPFFS "/held"
#define OTHER	BPFFS "/other"

/* Pins a map of one number under this name. */
static bool made(const char *name, __u64 value)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "held_test", 4, 8, 1, NULL);
	bool good = fd >= 0 && !bpf_map_update_elem(fd, &(__u32){ 0 }, &value, 0) &&
		    !bpf_obj_pin(fd, text(DIR "/%s", name));

	if (fd >= 0)
		close(fd);
	return good;
}

static void aged(void)
{
	struct timespec now, times[2] = { { .tv_nsec = UTIME_OMIT } };

	clock_gettime(CLOCK_REALTIME, &now);
	times[1] = (struct timespec){ now.tv_sec - 100, 5 };
	utimensat(AT_FDCWD, DIR, times, 0);
}

static bool held;		/* the map that was read last */
static int fd;			/* its descriptor */

/* What the map has; 0: it cannot be read. */
static __u64 value(const char *name)
{
	struct pinned_map m = pin_rows(text(DIR "/%s", name));
	__u64 value = 0;

	if (m.fd >= 0 && bpf_map_lookup_elem(m.fd, &(__u32){ 0 }, &value))
		value = 0;
	held = m.held;
	fd = m.fd;
	pin_close(&m);
	return value;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void rounds(void)
{
	int first;

	same("nothing is held unasked", value("one") == 1 && !held && !is_open(fd), 1);
	held_until(1);
	value("one");
	same("not in the round that sees the directory first", held, 0);
	held_until(1);
	same("then it is", value("one") == 1 && held && is_open(fd), 1);
	first = fd;
	same("within a round", value("one") == 1 && held && fd == first, 1);
	held_until(1);
	same("and in the next", value("one") == 1 && held && fd == first, 1);
	held_until(1);
	held_until(1);
	same("until a round does not ask for it", is_open(first), 0);
	value("one");
	held_until(60);
	same("or the next one is far", is_open(fd), 0);
	held_until(1);
}

/* What is asked of another directory, for the first time, lets nothing go. */
static void elsewhere(void)
{
	struct pinned_map m;

	value("one");
	held_until(1);
	value("one");
	m = pin_rows(OTHER "/one");
	same("another directory has no such pin", m.fd < 0, 1);
	same("what is held stays open", held && is_open(fd), 1);
	held_until(1);
}

/* Each descriptor that is held is one that nothing else can have. */
static void few_files(void)
{
	struct rlimit files, few;

	getrlimit(RLIMIT_NOFILE, &files);
	few = (struct rlimit){ 6, files.rlim_max };
	setrlimit(RLIMIT_NOFILE, &few);
	held_until(0);
	held_until(1);
	same("with few files it is read, and not held", value("one") == 1 && !held, 1);
	setrlimit(RLIMIT_NOFILE, &files);
	same("with more it is", value("one") == 1 && held, 1);
	held_until(1);
}

static void changes(void)
{
	value("one");
	held_until(1);
	value("one");
	same("it is held again", held, 1);
	held_until(1);
	unlink(DIR "/one");
	same("another takes its place", made("one", 2), 1);
	same("and is what is read", value("one") == 2 && !held, 1);
	held_until(1);
	same("unheld, while the directory is young", value("one") == 2 && !held, 1);
	aged();
	held_until(1);
	value("one");
	held_until(1);
	same("and held later", value("one") == 2 && held, 1);
	unlink(DIR "/one");
	held_until(1);
	same("what has gone is not there", value("one"), 0);
	same("nor open", is_open(fd), 0);
}

/* Two changes in one tick leave the same time. */
static void at_once(void)
{
	struct stat st;

	made("one", 3);
	held_until(1);
	same("what has just come", value("one"), 3);
	stat(DIR, &st);
	made("two", 4);
	rename(DIR "/two", DIR "/one");
	utimensat(AT_FDCWD, DIR, (struct timespec[]){ st.st_atim, st.st_mtim }, 0);
	held_until(1);
	same("is not remembered", value("one"), 4);
}

int main(void)
{
	log_init(false);
	if (bpffs_own(NULL) || mkdir(DIR, 0700) || mkdir(OTHER, 0700) || !made("one", 1)) {
		printf("skip held: no map can be pinned\n");
		return 0;
	}
	aged();
	rounds();
	elsewhere();
	few_files();
	changes();
	at_once();
	return failed > 0;
}
