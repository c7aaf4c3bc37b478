/* SPDX-License-Identifier: GPL-2.0 */
/* What libbpf, libxdp and the verifier say about a failure; and short texts for messages. */
#ifndef NICPROBE_LOG_H
#define NICPROBE_LOG_H

#include <stdbool.h>

/* Silences libbpf and libxdp; with -v, prints all they say to stderr. */
void log_init(bool verbose);
/*
 * The last line of the verifier or libbpf about a failure since log_forget(); "": none. There is
 * one per process, as their callback has no context.
 */
const char *log_last(void);
/* Says what libbpf would have said, had it done what failed. Without a newline at the end. */
__attribute__((format(printf, 1, 2)))
void log_say(const char *format, ...);
void log_forget(void);

/* snprintf into one of eight static buffers, used in turn. */
__attribute__((format(printf, 1, 2)))
const char *text(const char *format, ...);

#endif
