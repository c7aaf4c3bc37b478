/* SPDX-License-Identifier: GPL-2.0 */
/* Reads a file or pipe to its end. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/util/slurp.h"

FILE *lines_open(const char *path, char *room, size_t size)
{
	FILE *f = fopen(path, "re");

	if (f)
		setvbuf(f, room, _IOFBF, size);
	return f;
}

void *slurp(int fd, size_t most, size_t *size, int *err)
{
	char *buf = NULL, *more;
	size_t room = 0;
	ssize_t got;

	*size = 0;
	*err = 0;
	do {
		if (*size == room) {
			room = room ? room * 2 : 1 << 20;
			more = room <= most ? realloc(buf, room) : NULL;
			if (!more) {
				*err = room <= most ? -ENOMEM : -EFBIG;
				break;
			}
			buf = more;
		}
		got = read(fd, buf + *size, room - *size);
		if (got > 0)
			*size += got;
		else if (got && errno != EINTR)
			*err = -errno;
	} while (got && !*err);
	if (!*err)	/* shrink to fit, so that sanitizers catch reads beyond the end */
		return realloc(buf, *size ?: 1) ?: buf;
	free(buf);
	return NULL;
}
