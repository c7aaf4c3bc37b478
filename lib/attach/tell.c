/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Constants of abi.h, found in the sections of an object that have instructions. They are replaced
 * before libbpf sees the object: it would let us at programs, but not at the functions they call.
 */
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>

#include "lib/attach/tell.h"

/* Calls `each` for every instruction of an object. */
static void instructions(const char *elf, size_t size,
			 void (*each)(const struct bpf_insn *, size_t left, void *), void *arg)
{
	const Elf64_Ehdr *head = (const void *)elf;
	const Elf64_Shdr *section = (const void *)(elf + head->e_shoff);

	if (size < sizeof(*head) || head->e_shoff + head->e_shnum * sizeof(*section) > size)
		return;			/* that is for libbpf to say */
	for (unsigned i = 0; i < head->e_shnum; i++, section++) {
		size_t nr = section->sh_size / sizeof(struct bpf_insn);
		const struct bpf_insn *in = (const void *)(elf + section->sh_offset);

		if (!(section->sh_flags & SHF_EXECINSTR) || section->sh_type != SHT_PROGBITS ||
		    section->sh_offset + section->sh_size > size)
			continue;
		for (; nr; nr--, in++)
			each(in, nr, arg);
	}
}

/* Does it load a constant? That takes two instructions. */
static bool loads(const struct bpf_insn *in, size_t left)
{
	return left > 1 && in->code == (BPF_LD | BPF_IMM | BPF_DW) && !in->src_reg;
}

static bool loads_kind(const struct bpf_insn *in, size_t left, __u64 constant)
{
	return loads(in, left) && (__u32)in[1].imm == constant >> 32;
}

static bool loads_this(const struct bpf_insn *in, __u64 value)
{
	return in[0].imm == (__s32)value && in[1].imm == (__s32)(value >> 32);
}

/* The meter whose rows this loads; NR_METERS: it is something else. */
static __u32 rows_loaded(const struct bpf_insn *in, size_t left)
{
	__u32 id = loads_kind(in, left, ROWS_OF(0ull)) ? (__u32)in[0].imm : NR_METERS;

	return id < NR_METERS ? id : NR_METERS;
}

static void rows_note(const struct bpf_insn *in, size_t left, void *arg)
{
	__u64 *used = arg;
	__u32 id = rows_loaded(in, left);

	if (id != NR_METERS)
		*used |= 1ull << id;
}

__u64 tell_rows_used(const void *elf, size_t size)
{
	__u64 used = 0;

	instructions(elf, size, rows_note, &used);
	return used;
}

struct telling {
	const struct config *config;
	const int *rows;
};

static void value_put(struct bpf_insn *in, __u64 value)
{
	in[0].imm = value;
	in[1].imm = value >> 32;
}

/* A word of the configuration; 0: there is none. */
static __u64 config_word(const struct config *config, unsigned offset, unsigned size)
{
	const char *at = (const char *)config + offset;
	__u64 word = 0;
	__u32 half = 0;

	if (offset + size > sizeof(*config))
		return 0;
	if (size == sizeof(half))
		memcpy(&half, at, sizeof(half));
	else if (size == sizeof(word))
		memcpy(&word, at, sizeof(word));
	return word | half;
}

/* The word of the configuration that this takes as its operand, as far as that has bits for it. */
static void operand_put(const struct config *config, struct bpf_insn *in)
{
	__u64 word = config_word(config, in->imm & 0xffff, in->imm >> 16 & 15);

	in->imm = word < INT32_MAX ? word : INT32_MAX;
}

static bool has_operand(const struct bpf_insn *in)
{
	return BPF_CLASS(in->code) >= BPF_ALU && BPF_SRC(in->code) == BPF_K &&
	       (in->imm & OPERAND_KIND) == OPERAND_OF(0, 0);
}

/* Does `from` lead to `to`, by jumps forward? */
static bool leads_to(const struct bpf_insn *from, const struct bpf_insn *to)
{
	size_t nr = to > from ? to - from : 0;
	bool *met = calloc(nr + 1, sizeof(*met)), leads;

	if (!met)
		return false;
	met[0] = true;
	for (size_t i = 0; i < nr; i++) {
		__u8 class = BPF_CLASS(from[i].code), op = BPF_OP(from[i].code);
		bool jumps = (class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL;

		if (!met[i])
			continue;
		if (jumps && op != BPF_EXIT && from[i].off >= 0 && i + 1 + from[i].off <= nr)
			met[i + 1 + from[i].off] = true;
		if (!jumps || (op != BPF_JA && op != BPF_EXIT))
			met[i + 1] = true;
	}
	leads = met[nr];
	free(met);
	return to >= from && leads;
}

static bool is_switch(const struct bpf_insn *in, size_t left)
{
	return left > 2 && in->code == (BPF_ALU64 | BPF_MOV | BPF_K) && in->dst_reg == BPF_REG_0 &&
	       in[1].code == (BPF_JMP | BPF_JEQ | BPF_K) && in[1].dst_reg == BPF_REG_0 &&
	       !in[1].imm;
}

static bool switch_is_on(const struct config *config, __u32 what)
{
	switch (what & SWITCH_KIND) {
	case SWITCH_METER:
		return config->on >> (what & 63) & 1;
	case SWITCH_PACKET:
		return config->on & (what & 0xffff);
	case SWITCH_POINT:
		return config->points >> (what & 31) & 1;
	}
	return config_word(config, what & 0xffff, sizeof(__u32));
}

/*
 * The verifier refuses code that no jump leads to, so a jump that is never taken stays where
 * nothing else leads to its end. The verifier removes it, but not what it asks.
 */
static void switch_put(const struct config *config, struct bpf_insn *in)
{
	static const struct bpf_insn nothing = { .code = BPF_JMP | BPF_JA };
	__u32 kind = in->imm & SWITCH_KIND;

	if (kind != SWITCH_METER && kind != SWITCH_PACKET && kind != SWITCH_POINT &&
	    kind != SWITCH_WORD)
		return;
	in->imm = switch_is_on(config, in->imm);
	if (!in[1].off || (in->imm && leads_to(in + 2, in + 2 + in[1].off)))
		in[0] = in[1] = nothing;
}

/* The function of the kernel that a call stands for; 0: none. */
static __u32 function(const struct config *config, __s32 call)
{
	switch (call) {
	case KERN_CTX_CALL:
		return config->xdp_cast;
	case CAST_CALL:
		return config->cast;
	case DYNPTR_CALL:
		return config->dynptr;
	}
	return 0;
}

static void replace(const struct bpf_insn *at, size_t left, void *arg)
{
	struct bpf_insn *in = (struct bpf_insn *)at;	/* of our copy */
	const struct telling *t = arg;
	const struct config *config = t->config;
	__u32 id = rows_loaded(in, left);

	if (id != NR_METERS && t->rows[id] >= 0) {
		in->src_reg = BPF_PSEUDO_MAP_VALUE;
		value_put(in, t->rows[id]);
	} else if (has_operand(in)) {
		operand_put(config, in);
	} else if (is_switch(in, left)) {
		switch_put(config, in);
	} else if (loads_kind(in, left, WORD_OF(0ull, 0ull))) {
		value_put(in, config_word(config, in->imm & 0xffff, in->imm >> 16));
	} else if (config->dev && loads(in, left) &&
		   (loads_this(in, DEV_UNKNOWN) ||
		    (config->stays && loads_this(in, DEV_OF_PACKET)))) {
		value_put(in, config->dev);
	} else if (in->code == (BPF_JMP | BPF_CALL) && !in->src_reg &&
		   function(config, in->imm)) {
		in->imm = function(config, in->imm);
		in->src_reg = BPF_PSEUDO_KFUNC_CALL;
	}
}

void *tell_object(const void *elf, size_t size, const struct config *config,
		  const int rows[NR_METERS])
{
	struct telling t = { config, rows };
	void *copy = malloc(size);

	if (copy)
		instructions(memcpy(copy, elf, size), size, replace, &t);
	return copy;
}
