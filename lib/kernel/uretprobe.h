/* SPDX-License-Identifier: GPL-2.0 */
/* Whether probes at the return of a process's functions are harmless to it. */
#ifndef NICPROBE_URETPROBE_H
#define NICPROBE_URETPROBE_H

/* How a child ended that made the system call of a return probe itself. */
enum uretprobe_call {
	URETPROBE_NONE,		/* the kernel has no such call */
	URETPROBE_STOPPED,	/* the call was made: it ends who makes it from elsewhere */
	URETPROBE_REFUSED,	/* it was not made: a filter of system calls refused it */
	URETPROBE_UNKNOWN,	/* the child could not be made, or filtered */
};

/* How a child ended that read a page of code alone, as the kernel's page for probes is. */
enum uretprobe_page {
	URETPROBE_READ,
	URETPROBE_UNREADABLE,
	URETPROBE_PAGE_UNKNOWN,	/* the child could not be made, or has no such page */
};

/* Why return probes could end processes; NULL: they cannot. Found out once, by children. */
const char *uretprobe_harms(void);
/* The same from what two children saw, the second of which had a filter that refuses the call. */
const char *uretprobe_judge(enum uretprobe_call plain, enum uretprobe_call filtered);
const char *uretprobe_judge_page(enum uretprobe_page page);

#endif
