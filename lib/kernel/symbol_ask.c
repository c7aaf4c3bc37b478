/* SPDX-License-Identifier: GPL-2.0 */
/* Asks the kernel for a name or an address of its own: by programs that call one function. */
#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/kernel/insn.h"
#include "lib/kernel/symbol_ask.h"
#include "lib/util/list.h"
#include "lib/util/shortage.h"

/* A map of one value; -1 and errno. */
static int value_map(const void *value, size_t size, __u32 flags)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, size, 1, &opts);

	if (fd >= 0 && (bpf_map_update_elem(fd, &(__u32){ 0 }, value, BPF_ANY) ||
			(flags & BPF_F_RDONLY_PROG && bpf_map_freeze(fd)))) {
		int err = errno;

		close(fd);
		errno = err;
		return -1;
	}
	return fd;
}

static int load(const struct bpf_insn *insns, size_t nr)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = BPF_F_SLEEPABLE);

	return bpf_prog_load(BPF_PROG_TYPE_SYSCALL, NULL, "GPL", insns, nr, &opts);
}

/* bpf_snprintf(query.name, sizeof(query.name), "%pS", &query.address, 8) */
static int name_load(int query)
{
	static const char format[] = "%pS";
	int map = value_map(format, sizeof(format), BPF_F_RDONLY_PROG), prog;
	const struct bpf_insn insns[] = {
		SET_VALUE(BPF_REG_1, query, offsetof(struct symbol_query, name)),
		SET(BPF_REG_2, sizeof(((struct symbol_query *)0)->name)),
		SET_VALUE(BPF_REG_3, map, 0),
		SET_VALUE(BPF_REG_4, query, offsetof(struct symbol_query, address)),
		SET(BPF_REG_5, sizeof(__u64)),
		CALL(BPF_FUNC_snprintf),
		EXIT_WITH(0),
	};

	if (map < 0)
		return -1;
	prog = load(insns, NR_OF(insns));
	close(map);
	return prog;
}

/* bpf_kallsyms_lookup_name(query.name, sizeof(query.name), 0, &query.address) */
static int address_load(int query)
{
	const struct bpf_insn insns[] = {
		SET_VALUE(BPF_REG_1, query, offsetof(struct symbol_query, name)),
		SET(BPF_REG_2, sizeof(((struct symbol_query *)0)->name)),
		SET(BPF_REG_3, 0),
		SET_VALUE(BPF_REG_4, query, offsetof(struct symbol_query, address)),
		CALL(BPF_FUNC_kallsyms_lookup_name),
		EXIT_WITH(0),
	};

	return load(insns, NR_OF(insns));
}

#define UNTRIED -2

/* The map of what is asked; made once. -1: it cannot be. */
static int query_map(void)
{
	static const struct symbol_query nothing;
	static int map = UNTRIED;

	if (map == UNTRIED)
		map = value_map(&nothing, sizeof(nothing), 0);
	return map;
}

/* The program that answers, loaded once; -1: it cannot be. */
static int program(enum symbol_question which)
{
	static struct { int (*load)(int query), fd; } programs[] = {
		[SYMBOL_NAME] = { name_load, UNTRIED },
		[SYMBOL_ADDRESS] = { address_load, UNTRIED },
	};
	ONE_EACH(programs, NR_SYMBOL_QUESTIONS);

	if (programs[which].fd != UNTRIED)
		return programs[which].fd;
	programs[which].fd = query_map() < 0 ? -1 : programs[which].load(query_map());
	if (programs[which].fd < 0)
		short_of(errno, "load a program that looks up names of the kernel");
	return programs[which].fd;
}

bool symbol_ask(enum symbol_question which, struct symbol_query *q)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	int prog = program(which);

	return prog >= 0 && !bpf_map_update_elem(query_map(), &(__u32){ 0 }, q, BPF_ANY) &&
	       !bpf_prog_test_run_opts(prog, &run) &&
	       !bpf_map_lookup_elem(query_map(), &(__u32){ 0 }, q);
}

void symbol_ask_ready(void)
{
	program(SYMBOL_NAME);
	program(SYMBOL_ADDRESS);
}
