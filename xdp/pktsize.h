/* SPDX-License-Identifier: GPL-2.0 */
/* Size classes: those of RFC 2819, which switches and `ethtool -S` use, then jumbo and BIG TCP. */
#define PKTSIZE_BOUNDS(B)						\
	B(64) B(127) B(255) B(511) B(1023) B(1518) B(2047) B(4095)	\
	B(9216) B(16383) B(32767) B(65535)

struct pktsize {
#define B(bound) +1
	HIST(size, 1 PKTSIZE_BOUNDS(B));
#undef B
};
