/* SPDX-License-Identifier: GPL-2.0 */
/* Compares every map of the packet meters with the oracle's counts. */
#ifndef FUZZ_COMPARE_H
#define FUZZ_COMPARE_H

#include "oracle.h"

#define SOURCE_SETS 4	/* of a METER_TABLE() here */

/* Aborts, so that the fuzzer keeps the input as a crash. */
void die(const char *what);
/* Aborts on the first difference. */
void compare(const struct counts *want);

#endif
