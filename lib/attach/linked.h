/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The links that are pinned in a directory, and the programs they run. A link keeps its program,
 * and a directory has another time once a pin comes, goes or is renamed: who reads again and again
 * opens the pins once.
 */
#ifndef NICPROBE_LINKED_H
#define NICPROBE_LINKED_H

#include <stdbool.h>

#include <linux/types.h>

struct bpf_link_info;

struct linked {
	char name[64];		/* of the pin */
	__u32 program;		/* its id; 0: it is not a link, or was not opened */
};

struct linked_all {
	struct linked *list;
	unsigned nr;
	bool hidden;		/* some can be asked by root only */
};

/*
 * All pins but those that are not `listed`; only those that are `asked` are opened. Valid until the
 * next call. The caller holds pins_lock().
 */
const struct linked_all *linked_in(const char *dir, bool (*listed)(const char *name),
				   bool (*asked)(const char *name));

/* What a pinned link is. 0, or -errno and zeros: it is not there, or no link. */
int link_info(const char *pin, struct bpf_link_info *);
/* Its program; 0: there is none. */
__u32 link_program(const char *pin);

/* How often it did not run, as it ran already on its CPU (Linux 5.12). 0, too: it is gone. */
__u64 program_misses(__u32 program);

#endif
