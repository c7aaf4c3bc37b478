/* SPDX-License-Identifier: GPL-2.0 */
/* Error messages; libbpf and libxdp are silenced, but their messages are parsed for causes. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "lib/util/log.h"

#define TEXTS 8

static char sentence[512], hint[256];
static char last[512];
static char hindering[512], hindering_try[256];
static int hindering_by;
static bool loud;

static const int wants[] = { EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR };

static bool want_of(int err)
{
	for (unsigned i = 0; i < sizeof(wants) / sizeof(*wants); i++)
		if (err == wants[i])
			return true;
	return false;
}

static const char *remedy(int err)
{
	return err == EMFILE ? "ulimit -n 1024" :
	       err == ENOMEM ? "end what uses the memory, or raise ulimit -v" :
	       err == ENFILE ? "sysctl fs.file-max" : want_of(err) ? "the same command again" : "";
}

void hindered(int err, const char *try, const char *what, ...)
{
	va_list args;

	if (hindering_by)
		return;
	hindering_by = err;
	snprintf(hindering_try, sizeof(hindering_try), "%s", try ?: remedy(err));
	va_start(args, what);
	vsnprintf(hindering, sizeof(hindering), what, args);
	va_end(args);
}

void short_of(int err, const char *what)
{
	if (want_of(err))
		hindered(err, NULL, "cannot %s: %s", what, strerror(err));
}

void hindrance_forget(void)
{
	hindering_by = 0;
}

int hindrance(void)
{
	if (!hindering_by)
		return 0;
	complaints_forget();
	return complain(-hindering_by, hindering_try, "%s", hindering);
}

int complain(int err, const char *try, const char *what, ...)
{
	va_list args;

	if (sentence[0])
		return err;
	snprintf(hint, sizeof(hint), "%s", try ? try : "");
	va_start(args, what);
	vsnprintf(sentence, sizeof(sentence), what, args);
	va_end(args);
	if (want_of(-err))
		hindered(-err, try, "%s", sentence);
	return err;
}

void complaints_forget(void)
{
	sentence[0] = hint[0] = last[0] = '\0';
}

const char *complaint(void)
{
	return sentence;
}

const char *complaint_try(void)
{
	return hint;
}

const char *log_last(void)
{
	return last;
}

const char *text(const char *format, ...)
{
	static char texts[TEXTS][512];
	static unsigned next;
	char *one = texts[next++ % TEXTS];
	va_list args;

	va_start(args, format);
	vsnprintf(one, sizeof(texts[0]), format, args);
	va_end(args);
	return one;
}

static bool begins(const char *line, const char *const *with)
{
	for (; *with; with++)
		if (!strncmp(line, *with, strlen(*with)))
			return true;
	return false;
}

/* The verifier's complaint: the last line of its log that is not statistics. */
static void remember_verifier(char *log)
{
	static const char *const statistics[] = {
		"processed ", "verification time", "stack depth", "-- END", NULL
	};
	char *line, *rest;

	for (line = strtok_r(log, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (!begins(line, statistics))
			snprintf(last, sizeof(last), "%s", line);
}

/* Messages that only repeat an earlier error, or follow from it. */
static bool echo(const char *line)
{
	const char *refusal = strerror(EPERM);

	static const char *const echoes[] = {
		"failed to load object", "failed to load BPF skeleton", "Failed to load program",
		"Couldn't load XDP program", "Failed to load dispatcher",
		"permission error while running as root", NULL	/* a guess: ulimit -l */
	};

	return begins(line, echoes) || strstr(line, "': failed to load: -") ||
	       (strstr(last, refusal) && !strstr(line, refusal));
}

static void remember(const char *format, va_list args)
{
	static const char *const prefixes[] = { "libbpf: ", "libxdp: ", "Kernel error message: " };
	char *all, *line, *log;

	if (vasprintf(&all, format, args) < 0)
		return;
	line = all;
	for (unsigned i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(line, prefixes[i], strlen(prefixes[i])))
			line += strlen(prefixes[i]);
	/* libbpf may misreport these as a feature missing in the kernel */
	for (unsigned i = 0; i < sizeof(wants) / sizeof(*wants); i++)
		if (strstr(line, strerror(wants[i])))
			hindered(wants[i], NULL, "%.*s", (int)strcspn(line, "\n"), line);
	/* libbpf hides the cause behind ESRCH; if the file exists, it is not the cause */
	if (strstr(line, "Error loading vmlinux BTF") && !access("/sys/kernel/btf/vmlinux", F_OK))
		hindered(ENOMEM, NULL, "libbpf cannot load the types (BTF) of this kernel: out of "
			 "memory, or not readable");
	log = strstr(line, "LOAD LOG --");
	if (log && (log = strchr(log, '\n'))) {
		remember_verifier(log);
	} else {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] && !(last[0] && echo(line)))
			snprintf(last, sizeof(last), "%s", line);
	}
	free(all);
}

/* Escapes control characters: names in it must not drive the terminal. */
static void repeat(const char *format, va_list args)
{
	char *all;

	if (vasprintf(&all, format, args) < 0)
		return;
	for (unsigned char *c = (unsigned char *)all; *c; c++)
		if ((*c < ' ' && *c != '\n' && *c != '\t') || *c > '~')
			*c = '?';
	fputs(all, stderr);
	free(all);
}

static int said(bool warning, const char *format, va_list args)
{
	va_list again;

	if (loud) {
		va_copy(again, args);
		repeat(format, again);
		va_end(again);
	}
	if (warning)
		remember(format, args);
	return 0;
}

static int libbpf_said(enum libbpf_print_level level, const char *format, va_list args)
{
	return said(level == LIBBPF_WARN, format, args);
}

static int libxdp_said(enum libxdp_print_level level, const char *format, va_list args)
{
	return said(level == LIBXDP_WARN, format, args);
}

void log_init(bool verbose)
{
	loud = verbose;
	libbpf_set_print(libbpf_said);
	libxdp_set_print(libxdp_said);
}
