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
	same_text("a time of 0", finding_time(0), "0 ns");
	same_text("a short time", finding_time(32.84e-6), "32.8 us");
	same_text("just below the next unit", finding_time(.9994e-3), "999 us");
	same_text("rounded, it is the next unit", finding_time(.9996e-3), "1 ms");
	same_text("more than a second", finding_time(1.12), "1.12 s");
	same_text("a long time", finding_time(12345), "12345 s");
	return failed > 0;
}
