/* SPDX-License-Identifier: GPL-2.0 */
/* What several meters see of one cause is said once: the first to speak of it is the one. */
#include "../../lib/findings.h"

#define SUBJECT "findings "
#include "check.h"

int main(void)
{
	struct findings f = {};

	same("the first may", finding_about(&f, ABOUT_ONE_CPU, "irq"), true);
	same("the second may not", finding_about(&f, ABOUT_ONE_CPU, "rxcpu"), false);
	same("the first may again", finding_about(&f, ABOUT_ONE_CPU, "irq"), true);
	same("of something else it may", finding_about(&f, ABOUT_TX_SLOW, "rxcpu"), true);
	same("of itself anybody may", finding_about(&f, ABOUT_ITSELF, "irq"), true);
	same("and another, too", finding_about(&f, ABOUT_ITSELF, "rxcpu"), true);
	return failed > 0;
}
