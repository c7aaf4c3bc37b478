/* SPDX-License-Identifier: GPL-2.0 */
/* What an address of the running kernel is called, and where what is called so is. */
#ifndef NICPROBE_SYMBOL_H
#define NICPROBE_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

/* "tcp_v4_rcv+0x8d3", "vmxnet3_xmit_frame+0x1f [vmxnet3]"; the address if it has no name. */
void symbol_text(uint64_t address, char *name, size_t size);
/*
 * For who answers others: prepares the lookup of names while that is allowed, and from then on an
 * address without a name is "unknown-1a2b3c4d", the same one as long as this process lives. Where
 * the kernel lies must not be told.
 */
void symbol_conceal(void);
/* The same without the offset: "tcp_v4_rcv", "vmxnet3_xmit_frame [vmxnet3]"; NULL: not known. */
const char *symbol_at(uint64_t address);
/* Of the kernel or a module, code or data; 0: not there, or /proc/kallsyms would hide it. */
uint64_t symbol_address(const char *name);

#endif
