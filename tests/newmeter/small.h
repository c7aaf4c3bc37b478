/* SPDX-License-Identifier: GPL-2.0 */
/* A meter for the test that adds one: packets of less than 128 bytes. */
struct small {
	__u64 packets;
};
