/* SPDX-License-Identifier: GPL-2.0 */
/* ECN codepoints: the first four as RFC 3168 numbers them. */
#ifndef NICPROBE_ECN_H
#define NICPROBE_ECN_H

#include "lib/core/abi.h"

enum codepoint { ECN_NOT_ECT, ECN_ECT1, ECN_ECT0, ECN_CE, ECN_NOT_IP, NR_ECN,
		 ECN_UNREAD = NR_ECN };	/* its header is not readable here */

struct ecn {
	__u64 packets[NR_ECN];
};
#endif
