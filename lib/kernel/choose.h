/* SPDX-License-Identifier: GPL-2.0 */
/* Chooses among the programs of an object by what this kernel can attach. */
#ifndef NICPROBE_CHOOSE_H
#define NICPROBE_CHOOSE_H

#include <stdbool.h>

struct bpf_object;
struct error;


/*
 * Programs named NAME__one, NAME__other are alternatives: the one with the best attach method that
 * this kernel has is kept, the others are not loaded. 0; or -EOPNOTSUPP where no method is left.
 * `wanted`, if not NULL, is asked by name, with `arg`, which programs are to be loaded at all.
 * Programs of SEC("?…") are optional, and left out where their event is missing: `left`, if not
 * NULL, gets those.
 */
struct left_out;
int kernel_choose(struct bpf_object *, bool (*wanted)(const char *program, const void *arg),
		  const void *arg, struct left_out *left, struct error *);

/* Optional programs, and the events that this kernel lacks. */
#define MAX_LEFT_OUT 8
struct left_out {
	unsigned nr;
	char program[MAX_LEFT_OUT][48], event[MAX_LEFT_OUT][48];
};

#endif
