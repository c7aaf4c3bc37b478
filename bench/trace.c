/* SPDX-License-Identifier: GPL-2.0 */
/* Run-time statistics of tracing programs, ours and others'; and empty programs beside them. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "empty.skel.h"

static struct empty_bpf *empty;
static struct bpf_link *links[32];
static unsigned int nr_links;

/* The links first: they would hold the programs, and keep them attached. */
static void empty_off(void)
{
	while (nr_links)
		bpf_link__destroy(links[--nr_links]);
	empty_bpf__destroy(empty);	/* not there: nothing happens */
	empty = NULL;
}

/* Attaches the empty programs of one kind: those whose names end so. */
static void empty_on(const char *kind)
{
	struct bpf_program *prog;

	empty = empty_bpf__open();
	if (!empty)
		die("cannot open the empty programs: %s", strerror(errno));
	bpf_object__for_each_program(prog, empty->obj) {
		const char *suffix = strstr(bpf_program__name(prog), "__");

		bpf_program__set_autoload(prog, suffix && !strcmp(suffix + 2, kind));
	}
	if (empty_bpf__load(empty))
		die("cannot load the empty programs: %s", strerror(errno));
	bpf_object__for_each_program(prog, empty->obj) {
		if (!bpf_program__autoload(prog))
			continue;
		if (nr_links == sizeof(links) / sizeof(links[0]))
			die("more empty programs than there is room for");
		links[nr_links] = bpf_program__attach(prog);
		if (!links[nr_links++])
			die("cannot attach %s: %s", bpf_program__name(prog), strerror(errno));
	}
}

static void empty_print(void)
{
	const char *sep = "";
	struct bpf_program *prog;

	putchar('{');
	if (empty)
		bpf_object__for_each_program(prog, empty->obj) {
			struct bpf_prog_info info = {};
			__u32 len = sizeof(info);
			const char *name = bpf_program__name(prog);

			if (!bpf_program__autoload(prog) ||
			    bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len))
				continue;
			printf("%s\"%.*s\":%u", sep, (int)(strstr(name, "__") - name), name,
			       info.id);
			sep = ",";
		}
	puts("}");
}

/* The program of a link that is pinned; 0: it is no such link. */
static unsigned int pinned(const char *dir, const char *name)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = bpf_obj_get(path);
	if (fd < 0)
		return 0;
	/* on a map or a program this fails, or says what is no link */
	if (bpf_obj_get_info_by_fd(fd, &info, &len) || len != sizeof(info))
		info.prog_id = 0;
	close(fd);
	return info.prog_id;
}

static void pins_print(const char *dir)
{
	DIR *d = opendir(dir);
	const char *sep = "";
	struct dirent *e;

	putchar('{');
	while (d && (e = readdir(d))) {
		unsigned int id = strstr(e->d_name, "__") || !strcmp(e->d_name, "tc") ||
				  !strcmp(e->d_name, "xdp") ? pinned(dir, e->d_name) : 0;

		if (id)
			printf("%s\"%s\":%u", sep, e->d_name, id), sep = ",";
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
		die("cannot turn run-time statistics on: %s", strerror(errno));
	while (getline(&line, &size, stdin) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "empty ", 6)) {
			empty_off();
			if (strcmp(line + 6, "off"))
				empty_on(line + 6);
			empty_print();
		} else if (!strncmp(line, "pins ", 5)) {
			pins_print(line + 5);
		} else if (!strncmp(line, "read", 4)) {
			stats_print(line + 4);
		} else {
			die("no such command: %s", line);
		}
		fflush(stdout);
	}
	empty_off();
	return 0;
}
