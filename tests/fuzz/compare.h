/* SPDX-License-Identifier: GPL-2.0 */
/* Every map of the packet meters against what the oracle counted. */
#ifndef FUZZ_COMPARE_H
#define FUZZ_COMPARE_H

#include "oracle.h"

/* The fuzzer takes it for a crash, and keeps the input. */
void die(const char *what);
/* Dies of the first difference. */
void compare(const struct counts *want);

#endif
