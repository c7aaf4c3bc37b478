/* SPDX-License-Identifier: GPL-2.0 */
/* The kinds of sockets, in words. */
#ifndef NICPROBE_KINDS_H
#define NICPROBE_KINDS_H

#ifndef __bpf__
#include <stddef.h>

/* "inet", "unix"; its number where it has no word. */
void family_text(unsigned family, char *out, size_t size);
/* "udp", "raw-1"; "route" of netlink; "stream" where a family has one protocol of each type. */
void protocol_text(unsigned family, unsigned type, unsigned protocol, char *out, size_t size);
#endif

#endif
