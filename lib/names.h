/* SPDX-License-Identifier: GPL-2.0 */
/* What the running kernel calls its own numbers: values of an enum, addresses of code. */
#ifndef NICPROBE_NAMES_H
#define NICPROBE_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Why an skb was dropped: "NO_SOCKET"; "OPENVSWITCH_7" or "?77" where it has no name of its own. */
const char *drop_reason_name(uint32_t reason);

/* How many arguments a tracepoint hands over; 0: there is none of this name, or no BTF. */
unsigned tracepoint_args(const char *name);

/* "tcp_v4_rcv+0x8d3", "vmxnet3_xmit_frame+0x1f [vmxnet3]"; the address if it has no name. */
void symbol_text(uint64_t address, char *name, size_t size);
/* The symbol alone; NULL: not known. */
const char *symbol_at(uint64_t address);
/* NULL: they can be had; or why not. */
const char *symbols_hidden(void);

#endif
