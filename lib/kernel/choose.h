/* SPDX-License-Identifier: GPL-2.0 */
/* Chooses among the programs of an object by what this kernel can attach. */
#ifndef NICPROBE_CHOOSE_H
#define NICPROBE_CHOOSE_H

struct bpf_object;
struct error;

#define LEFT_OUT	128	/* bytes */

/*
 * Programs named NAME__one, NAME__other are alternatives: the one with the best attach method that
 * this kernel has is kept, the others are not loaded. 0; or -EOPNOTSUPP where no method is left.
 * Programs of SEC("?…") are optional, and left out where their event is missing: `left_out`, if not
 * NULL, gets the events of those; "": none.
 */
int kernel_choose(struct bpf_object *, char left_out[LEFT_OUT], struct error *);

/* "tp_btf/net_dev_queue" of the program named NAME or NAME__method, as chosen; NULL: none. */
const char *kernel_chosen(const struct bpf_object *, const char *name);

#endif
