/* SPDX-License-Identifier: GPL-2.0 */
/* libbpf has no place where an object could keep them. */
#include <stddef.h>
#include <unistd.h>

#include "lib/kernel/pending.h"

#define MOST 128	/* an object has one of types, and one for each meter with rows */

static struct {
	const struct bpf_object *obj;	/* NULL: the place is free */
	int fd;
} pending[MOST];

bool pending_add(const struct bpf_object *obj, int fd)
{
	for (unsigned i = 0; i < MOST; i++) {
		if (pending[i].obj)
			continue;
		pending[i].obj = obj;
		pending[i].fd = fd;
		return true;
	}
	return false;
}

void pending_close(const struct bpf_object *obj)
{
	for (unsigned i = 0; obj && i < MOST; i++) {
		if (pending[i].obj != obj)
			continue;
		close(pending[i].fd);
		pending[i].obj = NULL;
	}
}
