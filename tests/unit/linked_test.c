/* SPDX-License-Identifier: GPL-2.0 */
/* Pinned links are opened once, and again whenever a pin comes, goes or is renamed. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/attach/bpffs.h"
#include "lib/attach/linked.h"

#define SUBJECT "links: "
#include "check.h"

#define DIR	BPFFS "/links"

static unsigned opened;

static bool any(const char *name)
{
	return *name != '.';
}

static bool asked(const char *name)
{
	opened += *name != 'n';
	return *name != 'n';
}

static int program(void)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "nothing", "GPL", nothing, 2, NULL);
}

/* Pins a link, whose last pin it is, and returns the id of its program; 0: it cannot. */
static __u32 pinned(const char *name)
{
	int prog = program(), link = bpf_raw_tracepoint_open("task_newtask", prog);
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
	bool good = link >= 0 && !bpf_obj_pin(link, text(DIR "/%s", name)) &&
		    !bpf_obj_get_info_by_fd(prog, &info, &len);

	if (link >= 0)
		close(link);
	if (prog >= 0)
		close(prog);
	return good ? info.id : 0;
}

/* As if its last change had been `ago` seconds before. */
static void aged(unsigned ago)
{
	struct timespec now, times[2] = { { .tv_nsec = UTIME_OMIT } };

	clock_gettime(CLOCK_REALTIME, &now);
	times[1] = (struct timespec){ now.tv_sec - ago, 5 };
	utimensat(AT_FDCWD, DIR, times, 0);
}

static __u32 found(const char *name)
{
	/* as host_path() gives it: texts that are made meanwhile take its place */
	const struct linked_all *l = linked_in(text(DIR), any, asked);

	for (unsigned i = 0; i < l->nr; i++)
		if (!strcmp(l->list[i].name, name))
			return l->list[i].program;
	return 0;
}

static void remembered(__u32 one)
{
	aged(100);
	opened = 0;
	same("it is found", found("one"), one);
	same("by opening it", opened, 1);
	same("and known the next time", found("one"), one);
	same("unopened", opened, 1);
}

static void changes(void)
{
	__u32 two = pinned("two");

	same("one that came", found("two"), two);
	aged(100);
	found("two");
	rename(DIR "/two", DIR "/one");
	same("one that took a name", found("one"), two);
	same("and left its own", found("two"), 0);
	aged(100);
	found("one");
	unlink(DIR "/one");
	same("one that went", found("one"), 0);
}

/* Two changes in one tick leave the same time. */
static void at_once(void)
{
	__u32 first = pinned("one"), second;
	struct stat st;

	same("what has just come", found("one"), first);
	stat(DIR, &st);
	second = pinned("two");
	rename(DIR "/two", DIR "/one");
	utimensat(AT_FDCWD, DIR, (struct timespec[]){ st.st_atim, st.st_mtim }, 0);
	same("is not remembered", found("one"), second);
	unlink(DIR "/one");
}

int main(void)
{
	char name[16];
	__u32 one;

	log_init(false);
	if (bpffs_own(NULL) || mkdir(DIR, 0700) || !(one = pinned("one"))) {
		printf("skip links: none can be made\n");
		return 0;
	}
	for (unsigned i = 0; i < 40; i++) {	/* more than a text() outlasts */
		snprintf(name, sizeof(name), "not-%u", i);
		pinned(name);
	}
	remembered(one);
	changes();
	at_once();
	same("no link", program_misses(found("not-1")), 0);
	return failed > 0;
}
