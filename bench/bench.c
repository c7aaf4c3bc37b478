/* SPDX-License-Identifier: GPL-2.0 */
/* What nicprobe's BPF programs cost: the part of the bench that talks to the kernel. */
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

int main(int argc, char **argv)
{
	libbpf_set_print(quiet);
	if (argc > 1 && !strcmp(argv[1], "packet"))
		return packet_main(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "trace"))
		return trace_main(argc - 1, argv + 1);
	fputs("usage: bench packet [--rounds N] [NAME=rx.bpf.o ...] | bench trace\n"
	      "bench/run.py runs both.\n", stderr);
	return 2;
}
