/* SPDX-License-Identifier: GPL-2.0 */
/* The page pools of one receive queue. */
struct pool {
	__u64 came, went;	/* pages that they ever took, and gave back */
	__u64 taken, returned;	/* …since attach */
};
