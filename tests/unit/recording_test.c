/* SPDX-License-Identifier: GPL-2.0 */
/* Recordings: what is read is what was written, wherever the file ends or is damaged. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "lib/util/error.h"
#include "record/recorder.h"
#include "record/recording.h"
#include "recorded.h"
#include "render/render.h"

#define SMALL	8	/* frames of the file that is cut and damaged everywhere */

static char path[] = "/tmp/nicprobe-recording.XXXXXX";

static char *json(const struct snapshot *s)
{
	const struct look look = { .width = 80 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	renderer_json.one(out, s, &look);
	fclose(out);
	return text;
}

/* Writes so many frames of two interfaces; what show says of each, and of its window, is kept. */
static void written(unsigned frames, char **totals, char **windows, off_t *ends)
{
	struct snapshot *s[] = { begin("eth0"), begin("eth1") };
	struct recorder *r = to_file(path, 0);
	struct snapshot before = {};

	for (unsigned i = 0; i < frames; i++)
		for (unsigned k = 0; k < 2; k++) {
			struct snapshot now;
			struct error e = {};

			second(s[k], i);
			found(&s[k]->findings, i + k);
			must(!recorder_frame(r, s[k], i ? &s[k]->findings : NULL), "a frame", "no");
			must(!recorder_write(r, &e), "a frame is written", e.what);
			ends[2 * i + k] = recorder_size(r);
			if (k)
				continue;
			if (!i)
				s[k]->findings = (struct findings){};
			free(totals[i]);
			totals[i] = json(s[k]);
			snapshot_copy(&now, s[k]);
			if (i)
				snapshot_diff(&now, &before);
			free(windows[i]);
			windows[i] = i ? json(&now) : NULL;
			snapshot_free(&now);
			snapshot_free(&before);
			snapshot_copy(&before, s[k]);
		}
	snapshot_free(&before);
	for (unsigned k = 0; k < 2; k++) {
		snapshot_free(s[k]);
		free(s[k]);
	}
	recorder_close(r);
}

static struct recording *opened(struct error *e)
{
	struct recording *r = NULL;

	*e = (struct error){};
	return recording_open(&r, path, e) ? NULL : r;
}

static unsigned differing(const char *got, const char *want, const char *what, unsigned frame)
{
	size_t at = 0;

	while (got[at] && got[at] == want[at])
		at++;
	if (got[at] == want[at])
		return 0;
	must(false, what, text("frame %u: %.60s, not %.60s", frame, got + at, want + at));
	return 1;
}

static void test_same(void)
{
	static char *totals[FRAMES], *windows[FRAMES];
	static off_t ends[2 * FRAMES];
	struct error e;
	struct recording *r;
	unsigned wrong = 0;

	srand(1);
	written(FRAMES, totals, windows, ends);
	r = opened(&e);
	if (!check(r, "a recording is read", e.what))
		return;
	same("it has both interfaces", recording_ifaces(r), 2);
	same("it has every frame of the first", recording_frames(r, 0), FRAMES);
	same("it has every frame of the second", recording_frames(r, 1), FRAMES);
	same_text("nothing is damaged", recording_damage(r), "");
	for (unsigned i = 0; i < 3 * FRAMES && wrong < 3; i++) {
		unsigned frame = i < FRAMES ? i : below(FRAMES);
		struct snapshot s, window, total;
		char *got;

		if (recording_snapshot(r, 0, frame, &s, &e))
			wrong += !must(false, "a snapshot of a frame", e.what);
		got = json(&s);
		wrong += differing(got, totals[frame], "totals of a frame", frame);
		free(got);
		snapshot_free(&s);
		if (!frame)
			continue;
		if (recording_window(r, 0, frame - 1, frame, &window, &total, &e))
			wrong += !must(false, "a window", e.what);
		got = json(&window);
		wrong += differing(got, windows[frame], "window of a frame", frame);
		free(got);
		snapshot_free(&window);
		snapshot_free(&total);
	}
	same("every frame has what was written: totals, windows, findings, in any order", wrong, 0);
	same("a time is found", recording_at(r, 0, recording_when(r, 0, 77) + 5), 77);
	same("there is none before the first", recording_at(r, 0, 5), -1);
	recording_close(r);
}

/* All frames that were whole are there, and those that were not are not. */
static unsigned frames_at(off_t size, const off_t *ends, unsigned nr)
{
	unsigned frames = 0;

	for (unsigned i = 0; i < nr; i++)
		frames += ends[i] <= size;
	return frames;
}

static unsigned readable(struct recording *r)
{
	unsigned nr = 0;

	for (unsigned i = 0; r && i < recording_ifaces(r); i++)
		for (unsigned k = 0; k < recording_frames(r, i); k++) {
			struct snapshot s;

			nr += !recording_snapshot(r, i, k, &s, NULL);
			snapshot_free(&s);
		}
	return nr;
}

static void small_file(off_t *ends)
{
	static char *totals[SMALL], *windows[SMALL];

	must(!truncate(path, 0), "truncate", "no");
	srand(2);
	written(SMALL, totals, windows, ends);
}

static void test_cut(void)
{
	off_t ends[2 * SMALL], size;
	unsigned wrong = 0, unsaid = 0;

	small_file(ends);
	for (size = ends[2 * SMALL - 1]; size >= 0; size--) {
		unsigned want = frames_at(size, ends, 2 * SMALL), got;
		struct error e;
		struct recording *r;
		bool at_end = false;

		for (unsigned i = 0; i < 2 * SMALL; i++)
			at_end |= size == ends[i];
		must(!truncate(path, size), "truncate", "no");
		r = opened(&e);
		got = r && size % 7 ? 0 : readable(r);
		for (unsigned i = 0; r && size % 7 && i < recording_ifaces(r); i++)
			got += recording_frames(r, i);
		wrong += got != want || (want && !r) || (!r && !*e.what);
		unsaid += r && !at_end && !*recording_damage(r) && want && got != want;
		if (r)
			recording_close(r);
	}
	same("cut at any byte, all whole frames are read", wrong, 0);
	same("a frame that is cut is told", unsaid, 0);
}

/* Another process truncates the file after it was opened: its frames cannot be read any more. */
static void test_cut_while_open(void)
{
	off_t ends[2 * SMALL];
	unsigned whole, left;
	struct error e;
	struct recording *r;

	small_file(ends);
	r = opened(&e);
	whole = readable(r);
	must(!truncate(path, 0), "truncate", "no");
	left = readable(r);
	holds(whole == 2 * SMALL && left < whole, "cut while it is open: what is gone is not read");
	recording_close(r);
}

static void test_damage(void)
{
	off_t ends[2 * SMALL];
	unsigned unnoticed = 0, lost = 0;
	int fd = open(path, O_RDWR);

	small_file(ends);
	for (off_t at = 0; at < ends[2 * SMALL - 1]; at++) {
		unsigned char byte, bad;
		struct error e;
		struct recording *r;

		must(pread(fd, &byte, 1, at) == 1, "a byte is read", "no");
		bad = byte ^ (1 << below(8));
		must(pwrite(fd, &bad, 1, at) == 1, "a byte is written", "no");
		r = opened(&e);
		unnoticed += r ? !*recording_damage(r) : !*e.what;
		lost += r && at > ends[1] && !recording_frames(r, 0);
		if (r && !(at % 11))
			readable(r);
		if (r)
			recording_close(r);
		must(pwrite(fd, &byte, 1, at) == 1, "a byte is restored", "no");
	}
	close(fd);
	same("a byte that is damaged is noticed, whichever", unnoticed, 0);
	same("…and what is before it is read", lost, 0);
}

static void test_append(void)
{
	off_t ends[2 * SMALL];
	struct recording *r;
	struct error e;
	uint64_t had, cut;
	struct recorder *more;
	struct snapshot *s = begin("eth0"), window;

	small_file(ends);
	must(!truncate(path, ends[2 * SMALL - 1] - 5), "truncate", "no");
	more = recorder_open(&(struct recorder_how){ path, 1, 0 }, &had, &cut, &e);
	if (!check(more, "a run is added to a file whose end is cut", e.what))
		return;
	same("what was not whole is removed", had, ends[2 * SMALL - 2]);
	check(!recorder_open(&(struct recorder_how){ path, 1, 0 }, &had, &cut, &e) &&
	      strstr(e.what, "another nicprobe"), "two cannot write to one file", e.what);
	s->when.tv_sec += 1000;
	second(s, 0);
	must(!recorder_frame(more, s, NULL) && !recorder_write(more, &e), "a frame", e.what);
	recorder_close(more);
	r = opened(&e);
	if (!check(r, "both runs are read", e.what))
		return;
	same("with the frames of both", recording_frames(r, 0), SMALL + 1);
	same_text("and nothing is damaged", recording_damage(r), "");
	same("no window spans both", recording_joined(r, 0, SMALL), SMALL);
	check(recording_window(r, 0, 0, SMALL, &window, NULL, &e) == -EXDEV, "that is said",
	      e.what);
	snapshot_free(s);
	free(s);
	recording_close(r);
}

static void test_foreign(void)
{
	static const char *const texts[] = { "", "hello\n", "\x8enpr", "\x8enprR\0\0\0" };
	unsigned good = 0;
	struct error e;

	for (unsigned i = 0; i < 4; i++) {
		int fd = open(path, O_RDWR | O_TRUNC);

		must(write(fd, texts[i], i < 3 ? strlen(texts[i]) : 8) >= 0, "a file", "no");
		close(fd);
		good += !opened(&e) && *e.what;
	}
	same("a file that is none of ours is refused with a sentence", good, 4);
}

int main(void)
{
	int fd = mkstemp(path);

	close(fd);
	test_same();
	test_cut();
	test_cut_while_open();
	test_damage();
	test_append();
	test_foreign();
	unlink(path);
	return failed > 0;
}
