/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recordings in which the clock is set back: what was recorded before and after it is found, and a
 * ring stays one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SUBJECT "set back: "
#include "check.h"
#include "lib/util/error.h"
#include "record/recorder.h"
#include "record/recording.h"
#include "recorded.h"

#define SMALL	8		/* frames before, and after */

static char path[] = "/tmp/nicprobe-set-back.XXXXXX";
static int clock_shift, boot_shift;	/* seconds */

/* In the place of that of libc. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	int err = syscall(SYS_clock_gettime, clock, t);

	t->tv_sec += clock == CLOCK_REALTIME ? clock_shift :
		     clock == CLOCK_BOOTTIME ? boot_shift : 0;
	return err;
}

static void frame(struct recorder *w, struct snapshot *s)
{
	struct error e = {};

	found(&s->findings, 0);
	must(!recorder_frame(w, s, &s->findings) && !recorder_write(w, &e), "a frame", e.what);
}

/* The times of frames are in two stretches, each in order. */
static void test_found(void)
{
	const uint64_t second_ns = 1000000000;
	struct snapshot *s = begin("eth0"), window;
	struct recorder *w = to_file(path, 0);
	struct recording *r;
	struct error e = {};
	uint64_t when;

	for (unsigned i = 0; i < 2 * SMALL; i++) {
		second(s, i);
		s->when.tv_sec -= i == SMALL ? 100 : 0;
		frame(w, s);
	}
	recorder_close(w);
	snapshot_free(s);
	free(s);
	if (!check(!recording_open(&r, path, &e), "it is read", e.what))
		return;
	when = recording_when(r, 0, 3);
	same("a time before it is found", recording_at(r, 0, when + 5), 3);
	when = recording_when(r, 0, SMALL + 3);
	same("a time after it is found", recording_at(r, 0, when + 5), SMALL + 3);
	when = recording_when(r, 0, SMALL - 1);
	same("the last frame before it is the last that is no later",
	     recording_at(r, 0, when + second_ns), SMALL - 1);
	same("there is none before both", recording_at(r, 0, when - 200 * second_ns), -1);
	same("no window spans it", recording_joined(r, 0, 2 * SMALL - 1), SMALL);
	check(recording_window(r, 0, 2, SMALL + 2, &window, NULL, &e) == -EXDEV &&
	      strstr(e.what, "clock was set back"), "that is said", e.what);
	recording_close(r);
}

/* It begins with a file of `before` seconds from now; then the clock is set back by an hour. */
static void ring_goes_on(const char *name, int before)
{
	struct snapshot *s = begin("eth0");
	struct recorder *w;

	must(!truncate(path, 0), "truncate", "no");
	clock_shift = before;
	w = to_file(path, 10);
	second(s, 0);
	frame(w, s);
	recorder_close(w);
	clock_shift = 0;
	w = to_file(path, 10);
	clock_shift = -3600;
	boot_shift = 9;
	second(s, 1);
	frame(w, s);
	must(access(text("%s" OLDER_SUFFIX, path), F_OK), name, "a file begins too soon");
	boot_shift = 11;
	second(s, 2);
	frame(w, s);
	check(!unlink(text("%s" OLDER_SUFFIX, path)), name, "no file begins after its 10 s");
	recorder_close(w);
	clock_shift = boot_shift = 0;
	snapshot_free(s);
	free(s);
}

int main(void)
{
	close(mkstemp(path));
	test_found();
	ring_goes_on("the files of a ring keep their length", 0);
	ring_goes_on("and after one of tomorrow", 86400);
	unlink(path);
	return failed > 0;
}
