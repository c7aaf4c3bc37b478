/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of a process, by address: from its mappings and the symbols of their files. */
#ifndef NICPROBE_TRACE_PROCESS_H
#define NICPROBE_TRACE_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/* Remembers the mappings of a process, as they are when it is first named: while it lives. */
void process_see(unsigned pid);
/*
 * "connect+0x13 [libc.so.6]"; "libc.so.6+0x1234" where the file has no symbol there; the address if
 * it lies in no file, or the process was gone.
 */
void process_symbol(unsigned pid, uint64_t address, char *to, size_t size);

/* To read it; -1: there is none, or it is no regular file: to open a device may do something. */
int regular_open(const char *path);

#endif
