/* SPDX-License-Identifier: GPL-2.0 */
/* The other end of a connection: its text, and the row of those that find no room. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/host/remote.h"

void address_text(const struct remote *r, char *text, size_t size)
{
	bool v4 = remote_is_v4(r);

	if (!inet_ntop(v4 ? AF_INET : AF_INET6, r->bytes + (v4 ? 12 : 0), text, size))
		*text = '\0';
}

bool remote_is_v4(const struct remote *r)
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)r->bytes);
}

bool remote_is_none(const struct remote *r)
{
	static const struct remote none;

	return !memcmp(r, &none, sizeof(none));
}

bool remote_is_any(const struct remote *r)
{
	static const unsigned char zeros[4];

	return remote_is_none(r) || (remote_is_v4(r) && !memcmp(r->bytes + 12, zeros, 4));
}

void endpoint_text(const struct remote *address, unsigned port, char *out, size_t size)
{
	char host[64];

	address_text(address, host, sizeof(host));
	snprintf(out, size, remote_is_v4(address) ? "%s:%u" : "[%s]:%u", host, port);
}

void remote_text(const struct remote *r, char *text, size_t size)
{
	if (remote_is_none(r))
		snprintf(text, size, REMOTE_OTHERS);
	else
		address_text(r, text, size);
}

void comm_text(const char *comm, char *text, size_t size)
{
	snprintf(text, size, "%.*s", COMM_SIZE, *comm ? comm : "unknown");
}

int remotes_reserve(struct bpf_object *obj, const char *name, const void *keys, unsigned nr)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(obj, name);
	int copies = map && bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_HASH ?
		     libbpf_num_possible_cpus() : 1;
	void *zeros = map && copies > 0 ? calloc(copies, bpf_map__value_size(map)) : NULL;
	int err = zeros ? 0 : map ? -ENOMEM : -ENOENT;

	for (unsigned i = 0; i < nr && !err; i++)
		if (bpf_map_update_elem(bpf_map__fd(map),
					(const char *)keys + i * bpf_map__key_size(map), zeros,
					BPF_NOEXIST) && errno != EEXIST)
			err = -errno;
	free(zeros);
	return err;
}
