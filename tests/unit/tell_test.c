/* SPDX-License-Identifier: GPL-2.0 */
/* What the loader writes into the instructions of an object. */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/attach/tell.h"
#include "lib/core/event.h"
#include "lib/core/hook.h"
#include "lib/kernel/insn.h"

#define SUBJECT "tell "
#include "check.h"

#define JUMP(op, reg, value, over)					\
	INSN(BPF_JMP | (op) | BPF_K, .dst_reg = (reg), .imm = (value), .off = (over))
#define SWITCH(what, over)	SET(BPF_REG_0, what), JUMP(BPF_JEQ, BPF_REG_0, 0, over)
#define GOTO(over)	INSN(BPF_JMP | BPF_JA, .off = (over))
#define NOTHING		GOTO(0)
#define SIZE(field)	sizeof(((struct config *)0)->field)
#define OPERAND(field)	OPERAND_OF(offsetof(struct config, field), SIZE(field))
#define MOST	8	/* instructions */

static const int no_rows[NR_METERS] = { [0 ... NR_METERS - 1] = -1 };

/* An object of one section, with some code as it is compiled, and as it is to become. */
struct object {
	Elf64_Ehdr head;
	Elf64_Shdr section;
	struct bpf_insn code[MOST];
};

static void becomes(const char *what, const struct config *config, const struct bpf_insn *code,
		    const struct bpf_insn *wanted)
{
	struct object o = {
		.head = { .e_shoff = offsetof(struct object, section), .e_shnum = 1 },
		.section = {
			.sh_type = SHT_PROGBITS, .sh_flags = SHF_EXECINSTR,
			.sh_offset = offsetof(struct object, code), .sh_size = sizeof(o.code),
		},
	};
	struct object *told;

	memcpy(o.code, code, sizeof(o.code));
	told = tell_object(&o, sizeof(o), config, no_rows);
	holds(told && !memcmp(told->code, wanted, sizeof(o.code)), what);
	free(told);
}

static void switches(void)
{
	static const struct config on = {
		.on = 1 << METER_ecn, .xdp_cast = 7, .points = 1 << TX_NIC
	}, off = {
		.on = ~(1ull << METER_ecn), .points = ~(1u << TX_NIC)
	};
	/* what it jumps over leads to where it jumps */
	static const struct bpf_insn meter[MOST] = {
		SWITCH(SWITCH_METER + METER_ecn, 1), SET(BPF_REG_1, 1), EXIT
	}, point[MOST] = {
		SWITCH(SWITCH_POINT + TX_NIC, 1), SET(BPF_REG_1, 1), EXIT
	}, word[MOST] = {
		SWITCH(SWITCH_WORD + offsetof(struct config, xdp_cast), 1), SET(BPF_REG_1, 1), EXIT
	}, any[MOST] = {
		SWITCH(SWITCH_PACKET + (1 << METER_ecn | 1 << METER_rxcpu), 1), SET(BPF_REG_1, 1),
		EXIT
	}, none[MOST] = {
		SWITCH(SWITCH_PACKET + (1 << METER_ecn), 1), SET(BPF_REG_1, 1), EXIT
	}, taken_out[MOST] = {
		NOTHING, NOTHING, SET(BPF_REG_1, 1), EXIT
	}, jumps[MOST] = {
		SWITCH(0, 1), SET(BPF_REG_1, 1), EXIT
	};
	/* only it leads there; only a jump leads there; it jumps back; it jumps nowhere */
	static const struct bpf_insn alone[MOST] = {
		SWITCH(SWITCH_METER + METER_ecn, 1), EXIT, SET(BPF_REG_1, 1), EXIT
	}, alone_on[MOST] = {
		SWITCH(1, 1), EXIT, SET(BPF_REG_1, 1), EXIT
	}, twice[MOST] = {
		SWITCH(SWITCH_METER + METER_ecn, 2), JUMP(BPF_JGT, BPF_REG_1, 3, 1), EXIT, EXIT
	}, twice_on[MOST] = {
		NOTHING, NOTHING, JUMP(BPF_JGT, BPF_REG_1, 3, 1), EXIT, EXIT
	}, around[MOST] = {
		SWITCH(SWITCH_METER + METER_ecn, 2), GOTO(2), EXIT, SET(BPF_REG_1, 1), EXIT
	}, around_on[MOST] = {
		SWITCH(1, 2), GOTO(2), EXIT, SET(BPF_REG_1, 1), EXIT
	}, back[MOST] = {
		SET(BPF_REG_1, 1), SWITCH(SWITCH_METER + METER_ecn, -3), EXIT
	}, back_on[MOST] = {
		SET(BPF_REG_1, 1), SWITCH(1, -3), EXIT
	}, nowhere[MOST] = {
		SWITCH(SWITCH_METER + METER_ecn, 0), EXIT
	}, nowhere_on[MOST] = {
		NOTHING, NOTHING, EXIT
	}, other[MOST] = {
		SWITCH(0x12340000, 1), SET(BPF_REG_1, 1), EXIT
	};

	becomes("a meter that is on: nothing is asked", &on, meter, taken_out);
	becomes("a meter that is off: its code is jumped over", &off, meter, jumps);
	becomes("a point that is on", &on, point, taken_out);
	becomes("a point that is off", &off, point, jumps);
	becomes("a word that is set", &on, word, taken_out);
	becomes("a word that is 0", &off, word, jumps);
	becomes("one of two meters is on", &on, any, taken_out);
	becomes("the other of two meters is on", &off, any, taken_out);
	becomes("none of the meters is on", &off, none, jumps);
	becomes("a jump stays if nothing else leads to its end", &on, alone, alone_on);
	becomes("a jump goes if another jump leads to its end", &on, twice, twice_on);
	becomes("a jump stays if the code before its end jumps away", &on, around, around_on);
	becomes("a jump back stays", &on, back, back_on);
	becomes("a jump to the next instruction goes, on", &on, nowhere, nowhere_on);
	becomes("a jump to the next instruction goes, off", &off, nowhere, nowhere_on);
	becomes("what is no switch stays", &off, other, other);
}

static void operands(void)
{
	static const struct config config = {
		.from = 5, .near = 64, .stride = { [METER_ecn] = 260 }, .end = { 520 },
		.dev = 1ull << 40,
	};
	static const struct bpf_insn code[MOST] = {
		JUMP(BPF_JLT, BPF_REG_1, OPERAND(from), 2),
		INSN(BPF_JMP32 | BPF_JGE | BPF_K, .dst_reg = 1, .imm = OPERAND(near), .off = 1),
		INSN(BPF_ALU64 | BPF_MUL | BPF_K, .dst_reg = 2, .imm = OPERAND(stride[METER_ecn])),
		INSN(BPF_ALU | BPF_MUL | BPF_K, .dst_reg = 2, .imm = OPERAND(dev)),
		INSN(BPF_JMP | BPF_JGE | BPF_X, .dst_reg = 2, .imm = OPERAND(near)),
		EXIT
	}, told[MOST] = {
		JUMP(BPF_JLT, BPF_REG_1, 5, 2),
		INSN(BPF_JMP32 | BPF_JGE | BPF_K, .dst_reg = 1, .imm = 64, .off = 1),
		INSN(BPF_ALU64 | BPF_MUL | BPF_K, .dst_reg = 2, .imm = 260),
		INSN(BPF_ALU | BPF_MUL | BPF_K, .dst_reg = 2, .imm = INT32_MAX),
		INSN(BPF_JMP | BPF_JGE | BPF_X, .dst_reg = 2, .imm = OPERAND(near)),
		EXIT
	};

	becomes("operands are words of 4 and 8 bytes; what is too large is the largest", &config,
		code, told);
}

/* Instructions of an object that the loader should have written over. */
static unsigned left(const char *elf, size_t size)
{
	const Elf64_Ehdr *head = (const void *)elf;
	const Elf64_Shdr *section = (const void *)(elf + head->e_shoff);
	unsigned nr = 0;

	for (unsigned i = 0; i < head->e_shnum; i++, section++) {
		const struct bpf_insn *in = (const void *)(elf + section->sh_offset);

		if (!(section->sh_flags & SHF_EXECINSTR) ||
		    section->sh_offset + section->sh_size > size)
			continue;
		for (size_t n = section->sh_size / sizeof(*in); n; n--, in++) {
			__u32 kind = in->imm & SWITCH_KIND;

			nr += (in->imm & OPERAND_KIND) == OPERAND_OF(0, 0) ||
			      kind == SWITCH_METER || kind == SWITCH_PACKET ||
			      kind == SWITCH_POINT || kind == SWITCH_WORD;
		}
	}
	return nr;
}

static void object(const char *name, const void *(*elf)(size_t *))
{
	static const struct config config = { .on = ~0ull };
	size_t size;
	const void *bytes = elf(&size);
	char *told = tell_object(bytes, size, &config, no_rows);

	holds(left(bytes, size), text("%s asks", name));
	holds(told && !left(told, size), text("%s is told all that it asks", name));
	free(told);
}

int main(void)
{
	switches();
	operands();
	object("the object of events", events_elf);
	object("the object of the host", host_elf);
	for (int i = 0; hooks[i]; i++)
		if (hooks[i]->elf)
			object(hooks[i]->name, hooks[i]->elf);
	return failed > 0;
}
