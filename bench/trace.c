/* SPDX-License-Identifier: GPL-2.0 */
/* Run-time statistics of tracing programs, ours and others', and empty programs for comparison. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/attach/slots.h"
#include "bench.h"
#include "empty.skel.h"

/* Empty programs for the requested hooks, generated so that no list of hooks is needed. */
#define MAX_EMPTY 128
static struct {
	char hook[64];
	int prog, link;
} empty[MAX_EMPTY];
static unsigned int nr_empty;

/* The same for bpftrace, which uses classic tracepoints. */
static struct empty_bpf *old;
static struct bpf_link *old_links[32];
static unsigned int nr_old_links;

/* Links first, as they keep the programs attached. */
static void empty_off(void)
{
	while (nr_empty) {
		close(empty[--nr_empty].link);
		close(empty[nr_empty].prog);
	}
	while (nr_old_links)
		bpf_link__destroy(old_links[--nr_old_links]);
	empty_bpf__destroy(old);	/* NULL is allowed */
	old = NULL;
}

static void empty_add(const char *hook, bool typed)
{
	int prog = empty_load(hook, typed);
	int link = prog < 0 ? prog : bpf_raw_tracepoint_open(typed ? NULL : hook, prog);

	if (link < 0)
		die("cannot attach an empty program to %s: %s", hook, strerror(-link));
	if (nr_empty == MAX_EMPTY)
		die("more empty programs than there is room for");
	snprintf(empty[nr_empty].hook, sizeof(empty[0].hook), "%s", hook);
	empty[nr_empty].prog = prog;
	empty[nr_empty++].link = link;
}

static void old_add(void)
{
	struct bpf_program *prog;

	old = empty_bpf__open();
	if (!old)
		die("cannot open the empty programs: %s", strerror(errno));
	bpf_object__for_each_program(prog, old->obj)
		bpf_program__set_autoload(prog, bpf_program__type(prog) ==
						BPF_PROG_TYPE_TRACEPOINT);
	if (empty_bpf__load(old))
		die("cannot load the empty programs: %s", strerror(errno));
	bpf_object__for_each_program(prog, old->obj) {
		if (!bpf_program__autoload(prog))
			continue;
		if (nr_old_links == sizeof(old_links) / sizeof(old_links[0]))
			die("too many empty programs");
		old_links[nr_old_links] = bpf_program__attach(prog);
		if (!old_links[nr_old_links++])
			die("cannot attach %s: %s", bpf_program__name(prog), strerror(errno));
	}
}

/* `words`: "btf HOOK…", "raw HOOK…", "tp" or "off". */
static void empty_on(char *words)
{
	const char *kind = strtok(words, " ");

	empty_off();
	if (!strcmp(kind, "tp"))
		old_add();
	for (const char *hook = strtok(NULL, " "); hook; hook = strtok(NULL, " "))
		empty_add(hook, !strcmp(kind, "btf"));
}

static unsigned int prog_id(int fd)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &len) ? 0 : info.id;
}

static void empty_print(void)
{
	const char *sep = "";
	struct bpf_program *prog;

	putchar('{');
	for (unsigned int i = 0; i < nr_empty; i++, sep = ",")
		printf("%s\"%s\":%u", sep, empty[i].hook, prog_id(empty[i].prog));
	if (old)
		bpf_object__for_each_program(prog, old->obj) {
			if (!bpf_program__autoload(prog))
				continue;
			printf("%s\"%s\":%u", sep, bpf_program__name(prog),
			       prog_id(bpf_program__fd(prog)));
			sep = ",";
		}
	puts("}");
}

/*
 * Is the descriptor a link? Pinned maps and programs also answer the query for link information,
 * with other contents.
 */
static bool is_link(int fd)
{
	char path[32], what[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, what, sizeof(what) - 1);
	what[n > 0 ? n : 0] = 0;
	return strstr(what, "bpf-link");	/* "anon_inode:bpf-link" */
}

/*
 * The program of a pinned link, and its tracepoint; of a program that interfaces share, those of
 * its link. 0: not a link.
 */
static unsigned int pinned(const char *dir, const char *name, char *hook, size_t size)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	*hook = 0;
	fd = bpf_obj_get(path);
	if (fd >= 0 && !is_link(fd) && shared_program(name) >= 0) {
		close(fd);
		fd = bpf_obj_get(host_path(name));
	}
	if (fd < 0)
		return 0;
	if (!is_link(fd) || bpf_obj_get_info_by_fd(fd, &info, &len))
		info.prog_id = 0;
	if (info.prog_id && info.type == BPF_LINK_TYPE_RAW_TRACEPOINT) {
		memset(&info, 0, sizeof(info));
		info.raw_tracepoint.tp_name = (__u64)(unsigned long)hook;
		info.raw_tracepoint.tp_name_len = size;
		if (bpf_obj_get_info_by_fd(fd, &info, &len))
			die("cannot query the tracepoint of %s: %s", name, strerror(errno));
	}
	close(fd);
	return info.prog_id;
}

static void pins_print(const char *dir)
{
	DIR *d = opendir(dir);
	const char *sep = "";
	struct dirent *e;
	char hook[64];

	putchar('{');
	while (d && (e = readdir(d))) {
		unsigned int id = pinned(dir, e->d_name, hook, sizeof(hook));

		if (id)
			printf("%s\"%s\":{\"id\":%u,\"hook\":\"%s\"}", sep, e->d_name, id, hook),
				sep = ",";
	}
	puts("}");
	if (d)
		closedir(d);
}

/* The memory of a map according to its fdinfo; 0: not a map. */
static unsigned long long map_bytes(int fd)
{
	unsigned long long bytes = 0;
	char line[128];
	FILE *f;

	snprintf(line, sizeof(line), "/proc/self/fdinfo/%d", fd);
	f = fopen(line, "r");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "memlock: %llu", &bytes);
	if (f)
		fclose(f);
	return bytes;
}

/* Prints {name: bytes} of the maps pinned in the directory. */
static void maps_print(const char *dir)
{
	DIR *d = opendir(dir);
	const char *sep = "";
	struct dirent *e;

	putchar('{');
	while (d && (e = readdir(d))) {
		unsigned long long bytes;
		char path[512];
		int fd;

		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		fd = bpf_obj_get(path);
		bytes = fd < 0 ? 0 : map_bytes(fd);
		if (bytes) {
			printf("%s\"%s\":%llu", sep, e->d_name, bytes);
			sep = ",";
		}
		if (fd >= 0)
			close(fd);
	}
	puts("}");
	if (d)
		closedir(d);
}

static void stats_print(char *ids)
{
	const char *sep = "";

	putchar('{');
	for (char *id = strtok(ids, " \n"); id; id = strtok(NULL, " \n")) {
		struct bpf_prog_info info = {};
		__u32 len = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(atoi(id));

		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
			die("program %s is gone", id);
		close(fd);
		printf("%s\"%s\":{\"name\":\"%s\",\"type\":%u,\"count\":%llu,\"ns\":%llu,"
		       "\"bytes\":%u}", sep, id, info.name, info.type, info.run_cnt,
		       info.run_time_ns, info.jited_prog_len);
		sep = ",";
	}
	puts("}");
}

int trace_main(int argc, char **argv)
{
	char *line = NULL;
	size_t size = 0;

	(void)argc;
	(void)argv;
	if (bpf_enable_stats(BPF_STATS_RUN_TIME) < 0)
		die("cannot enable run-time statistics: %s", strerror(errno));
	while (getline(&line, &size, stdin) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "empty ", 6)) {
			empty_on(line + 6);
			empty_print();
		} else if (!strncmp(line, "pins ", 5)) {
			pins_print(line + 5);
		} else if (!strncmp(line, "maps ", 5)) {
			maps_print(line + 5);
		} else if (!strncmp(line, "read", 4)) {
			stats_print(line + 4);
		} else {
			die("unknown command: %s", line);
		}
		fflush(stdout);
	}
	empty_off();
	return 0;
}
