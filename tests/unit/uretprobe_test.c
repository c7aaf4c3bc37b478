/* SPDX-License-Identifier: GPL-2.0 */
/* Return probes: what children saw says whether they are harmless. */
#include <string.h>

#include "lib/kernel/uretprobe.h"

#define SUBJECT "uretprobe "
#include "check.h"

static bool says(enum uretprobe_call plain, enum uretprobe_call filtered, const char *word)
{
	const char *why = uretprobe_judge(plain, filtered);

	return word ? why && strstr(why, word) : !why;
}

static bool page_says(enum uretprobe_page page, const char *word)
{
	const char *why = uretprobe_judge_page(page);

	return word ? why && strstr(why, word) : !why;
}

int main(void)
{
	holds(says(URETPROBE_NONE, URETPROBE_REFUSED, NULL), "no such call: nothing is refused");
	holds(says(URETPROBE_STOPPED, URETPROBE_STOPPED, NULL), "the filter is passed by");
	holds(says(URETPROBE_STOPPED, URETPROBE_REFUSED, "crash"), "the filter refuses it");
	holds(says(URETPROBE_STOPPED, URETPROBE_UNKNOWN, "found out"), "no filter could be made");
	holds(says(URETPROBE_UNKNOWN, URETPROBE_UNKNOWN, "found out"), "no child could be made");
	holds(says(URETPROBE_REFUSED, URETPROBE_REFUSED, "crash"), "filtered itself");
	holds(page_says(URETPROBE_READ, NULL), "the unwinder may read the page");
	holds(page_says(URETPROBE_UNREADABLE, "crash"), "it may not");
	holds(page_says(URETPROBE_PAGE_UNKNOWN, "found out"), "no page could be made");
	return failed > 0;
}
