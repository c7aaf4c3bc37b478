/* SPDX-License-Identifier: GPL-2.0 */
/* What the loader tells the programs: the configuration, and parts of it as instructions. */
#ifndef NICPROBE_TOLD_BPF_H
#define NICPROBE_TOLD_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "lib/core/abi.h"

const volatile struct config config SEC(".rodata.config");

#define LIKELY(x)	__builtin_expect(!!(x), 1)

/* A constant that the loader replaces: abi.h. Where it does not, it is `mark`. */
#ifndef CONSTANT
#define CONSTANT(word, mark)	asm("%0 = %1 ll" : "=r"(word) : "i"(mark))
#endif

/*
 * Programs ask by these, and read `config` only for a field that they choose when they run. An
 * object that is not opened by lib/attach/object.h defines UNTOLD first.
 *
 * TOLD(field): config.field, as a constant of 64 bits among the instructions.
 * SELDOM(value, <, field): is `value` below config.field? Or another comparison of 64 bits without
 * signs; the compiler moves what is done then out of the way.
 * TIMES(value, field): their product.
 * Switches: meter_on(id), point_on(point), is_set(field), and any_on(1 << METER_x | …) of packet
 * meters.
 */
#if defined(__bpf__) && !defined(UNTOLD)
#define TOLD(field) ({							\
	__u64 told;							\
	CONSTANT(told, WORD_OF(offsetof(struct config, field), sizeof(config.field)));	\
	told;								\
})
#define OPERAND(field)	OPERAND_OF(offsetof(struct config, field), sizeof(config.field))
#define SELDOM(value, op, field) ({					\
	__label__ holds, known;						\
	bool seldom = false;						\
	asm goto("if %0 " #op " %1 goto %l[holds]"			\
		 :: "r"((__u64)(value)), "i"(OPERAND(field)) :: holds);	\
	goto known;							\
holds:									\
	seldom = true;							\
known:									\
	seldom;								\
})
#define TIMES(value, field) ({						\
	__u64 product = (value);					\
	asm("%0 *= %1" : "+r"(product) : "i"(OPERAND(field)));		\
	product;							\
})
#define SWITCH(what) ({							\
	__label__ off, known;						\
	bool is_on = true;						\
	asm goto("r0 = %0; if r0 == 0 goto %l[off]" :: "i"(what) : "r0" : off);	\
	goto known;							\
off:									\
	is_on = false;							\
known:									\
	is_on;								\
})
#define meter_on(id)	SWITCH(SWITCH_METER + (id))
#define any_on(meters)	SWITCH(SWITCH_PACKET + (meters))
#define point_on(point)	SWITCH(SWITCH_POINT + (point))
#define is_set(field) ({							\
	_Static_assert(sizeof(config.field) == 4, "SWITCH_WORD is of 4 bytes");	\
	SWITCH(SWITCH_WORD + offsetof(struct config, field));			\
})
#else	/* or a compiler of tests */
#define TOLD(field)	((__u64)config.field)
#define SELDOM(value, op, field)	((__u64)(value) op config.field)
#define TIMES(value, field)	((__u64)(value) * config.field)
#define meter_on(id)	(config.on >> (id) & 1)
#define any_on(meters)	((config.on & (meters)) != 0)
#define point_on(point)	(config.points >> (point) & 1)
#define is_set(field)	(config.field != 0)
#endif
#endif
