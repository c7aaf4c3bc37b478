/* SPDX-License-Identifier: GPL-2.0 */
/* The C program of the bench: measures the cost of BPF programs. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "bench.h"

void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fputs("bench: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, fmt, args) : 0;
}

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} parts[] = {
	{ "packet", packet_main }, { "trace", trace_main }, { "live", live_main },
	{ "far", far_main }, { "nothing", nothing_main }, { "sockets", sockets_main },
	{ "dispatch", dispatch_main }, { "counting", counting_main },
};

int main(int argc, char **argv)
{
	libbpf_set_print(quiet);
	for (unsigned int i = 0; argc > 1 && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strcmp(argv[1], parts[i].name))
			return parts[i].main(argc - 1, argv + 1);
	fputs("usage: bench packet|trace|live|far|nothing|counting|sockets|dispatch …\n"
	      "See bench.h. Run by bench/run.py.\n", stderr);
	return 2;
}
