/* SPDX-License-Identifier: GPL-2.0 */
/* Asks the kernel for a name or an address of its own: /proc/kallsyms is 10 MB to read for one. */
#ifndef NICPROBE_SYMBOL_ASK_H
#define NICPROBE_SYMBOL_ASK_H

#include <linux/types.h>
#include <stdbool.h>

struct symbol_query {
	__u64 address;
	/* "tcp_v4_rcv+0x8d3/0x1100", with " [module]"; or "0xffff…". To look it up: "tcp_v4_rcv" */
	char name[192];
};

enum symbol_question {
	SYMBOL_NAME,		/* of its code or data, or of a module's: since 5.13 */
	SYMBOL_ADDRESS,		/* since 5.16; 0: there is no such, or we may not know */
	NR_SYMBOL_QUESTIONS
};

/* Fills in what is asked for. False: the kernel cannot be asked. */
bool symbol_ask(enum symbol_question, struct symbol_query *);
/* Prepares that, while it is allowed. */
void symbol_ask_ready(void);

#endif
