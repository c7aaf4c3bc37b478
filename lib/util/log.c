/* SPDX-License-Identifier: GPL-2.0 */
/* What libbpf, libxdp and the verifier say: silenced, but kept, as the cause of a failure. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xdp/libxdp.h>

#include "lib/util/log.h"
#include "lib/util/shortage.h"

#define TEXTS 8

static char last[512];
static bool loud;

const char *log_last(void)
{
	return last;
}

void log_forget(void)
{
	last[0] = '\0';
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

/* What the verifier rejects: the last line of its log that is not statistics. */
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
	shortage_read(line);
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

void log_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	said(true, format, args);
	va_end(args);
	if (loud)
		fputc('\n', stderr);
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
