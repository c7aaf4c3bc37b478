/* SPDX-License-Identifier: GPL-2.0 */
/* The other end of a connection, in the keys of the host's meters. */
#ifndef NICPROBE_REMOTE_H
#define NICPROBE_REMOTE_H

#include "lib/core/abi.h"

/*
 * Its address; IPv4 as ::ffff:192.0.2.1, as an IPv6 socket has it. All zeros: any, of those for
 * which a map has no room any more.
 */
struct remote {
	__u8 bytes[16];
};
KEY_BYTES(struct remote, 16);

/* Keys in a map of the host's meters, and one more for those that find no room. */
#define REMOTES 8192

#define COMM_SIZE 16		/* of the name of a process, with its '\0': TASK_COMM_LEN */

/* What tables call the key without an address. */
#define REMOTE_OTHERS "others"

#ifndef __bpf__
#include <stdbool.h>
#include <stddef.h>

struct bpf_object;

/* "192.0.2.1", "2001:db8::1" */
void address_text(const struct remote *, char *text, size_t size);
bool remote_is_v4(const struct remote *);
bool remote_is_none(const struct remote *);	/* all zeros */
bool remote_is_any(const struct remote *);	/* the same, or 0.0.0.0 */

/* With a port: "192.0.2.1:80", "[2001:db8::1]:80" */
void endpoint_text(const struct remote *, unsigned port, char *text, size_t size);

/* An address; "others" of all zeros. */
void remote_text(const struct remote *, char *text, size_t size);

/* A name as the kernel has it, or "unknown" where it is empty. */
void comm_text(const char *comm, char *text, size_t size);

/* Puts these keys into a map, with rows of zeros: they shall have room. 0 or -errno. */
int remotes_reserve(struct bpf_object *, const char *map, const void *keys, unsigned nr);
#endif

#endif
