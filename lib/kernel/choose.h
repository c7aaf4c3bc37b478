/* SPDX-License-Identifier: GPL-2.0 */
/* Chooses among the programs of an object by what this kernel can attach. */
#ifndef NICPROBE_CHOOSE_H
#define NICPROBE_CHOOSE_H

struct bpf_object;

/*
 * Programs named NAME__one, NAME__other are alternatives: the one with the best attach method that
 * this kernel has is kept, the others are not loaded. 0, or -EOPNOTSUPP and a complaint where no
 * method is left; programs of SEC("?…") are optional, and left out where their event is missing.
 */
int kernel_choose(struct bpf_object *);

/* The events of the optional programs that kernel_choose() left out last; "": none. */
const char *kernel_left_out(void);

/* "tp_btf/net_dev_queue" of the program named NAME or NAME__method, as chosen; NULL: none. */
const char *kernel_chosen(const struct bpf_object *, const char *name);

#endif
