/* SPDX-License-Identifier: GPL-2.0 */
/* The maps of pins, to read them. */
#ifndef NICPROBE_PINNED_H
#define NICPROBE_PINNED_H

#include <stdbool.h>

#include <linux/bpf.h>

/* The map of a pin, opened; to be closed by pin_close(), and by nothing else. */
struct pinned_map {
	int fd;				/* -1 and errno: it cannot be opened */
	bool held;			/* it stays open (held.h) */
	bool mappable;			/* pin_rows(): the kernel lets us map it */
	struct bpf_map_info info;	/* of pin_rows() */
};

/* For reading only, so its file need not be writable. */
struct pinned_map pin_read(const char *path);
/* The same to be mapped: the kernel wants it open for writing, if that may be. */
struct pinned_map pin_rows(const char *path);
void pin_close(const struct pinned_map *);
/* The same of a map that is open; where it fails, it is closed. */
struct pinned_map map_opened(int fd);

/* A descriptor for reading, whatever is pinned there. -1 and errno. */
int pin_open(const char *path);

#endif
