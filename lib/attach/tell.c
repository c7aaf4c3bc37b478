/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Constants of abi.h, found in the sections of an object that have instructions. They are replaced
 * before libbpf sees the object: it would let us at programs, but not at the functions they call.
 */
#include <elf.h>
#include <stdbool.h>
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

/* The word of the configuration that this stands for. */
static void word_put(const struct config *config, struct bpf_insn *in)
{
	unsigned offset = in->imm & 0xffff, size = in->imm >> 16;
	__u64 word = 0;

	if ((size == 4 || size == 8) && offset + size <= sizeof(*config)) {
		memcpy(&word, (const char *)config + offset, size);
		value_put(in, word);
	}
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
	} else if (loads_kind(in, left, ON_OF(0ull))) {
		value_put(in, config->on >> in->imm & 1);
	} else if (loads_kind(in, left, WORD_OF(0ull, 0ull))) {
		word_put(config, in);
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
