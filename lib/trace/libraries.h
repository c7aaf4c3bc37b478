/* SPDX-License-Identifier: GPL-2.0 */
/* Files of a library that processes have mapped, and where its functions are in them. */
#ifndef NICPROBE_LIBRARIES_H
#define NICPROBE_LIBRARIES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct library {
	int fd;			/* of the file; -1: it could not be opened */
	char path[256];		/* as a process that maps it sees it */
	dev_t device;		/* of the open file… */
	ino_t inode;
	uint64_t mapped;	/* …and as the kernel's list of mappings has it */
	char mapped_on[16];
};

struct libraries {
	struct library *list;
	unsigned nr;
	unsigned denied;	/* processes that we may not ask */
	unsigned left_out;	/* mappings of further files, beyond those that are kept open */
};

/*
 * Those that this process maps, or one in the network namespace of this inode, each file once.
 * `fits`: by the last part of the path. 0 or -errno; call libraries_free() in any case.
 */
int libraries_find(struct libraries *, unsigned netns, bool (*fits)(const char *name));
void libraries_free(struct libraries *);

/*
 * Offsets in the file of a function by its dynamic symbols, at most `most`: there may be several
 * versions. How many; -errno: it is no library of this machine's own kind.
 */
int library_function(const struct library *, const char *name, uint64_t *offsets, unsigned most);

#endif
