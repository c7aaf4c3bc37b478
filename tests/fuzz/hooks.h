/* SPDX-License-Identifier: GPL-2.0 */
/* A packet passes a hook at a tracepoint. */
#ifndef FUZZ_HOOKS_H
#define FUZZ_HOOKS_H

struct sk_buff;

void rx_gro(const struct sk_buff *skb);
void rx_frags(const struct sk_buff *skb);
void rx_stack(const struct sk_buff *skb);
void tx_stack(const struct sk_buff *skb);
/* To the driver, which returns `rc`. */
void tx_nic(const struct sk_buff *skb, int rc);

#endif
