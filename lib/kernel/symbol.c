/* SPDX-License-Identifier: GPL-2.0 */
/* What an address of the running kernel is called, and where what is called so is. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/kernel/symbol.bpf.h"
#include "lib/kernel/symbol.h"
#include "lib/util/shortage.h"
#include "symbol.skel.h"

/* Loaded once; NULL: it cannot be. */
static struct symbol_bpf *kernel_ready(void)
{
	static struct symbol_bpf *kernel;
	static bool tried;

	if (!tried)
		kernel = symbol_bpf__open_and_load();
	tried = true;
	if (kernel && shortage_unmapped(kernel->bss)) {
		symbol_bpf__destroy(kernel);
		kernel = NULL;
	}
	return kernel;
}

/* The kernel's answer: bpf_snprintf() has %pS since 5.13. NULL: it gives none. */
static const char *ask(uint64_t address)
{
	struct symbol_bpf *kernel = kernel_ready();
	LIBBPF_OPTS(bpf_test_run_opts, run);

	if (!kernel)
		return NULL;
	kernel->bss->asked.address = address;
	if (bpf_prog_test_run_opts(bpf_program__fd(kernel->progs.symbol), &run))
		return NULL;
	return kernel->bss->asked.name;
}

/* bpf_kallsyms_lookup_name(): since 5.16. */
uint64_t symbol_address(const char *name)
{
	struct symbol_bpf *kernel = kernel_ready();
	LIBBPF_OPTS(bpf_test_run_opts, run);

	if (!kernel)
		return 0;
	kernel->bss->asked = (struct symbol_query){};
	snprintf(kernel->bss->asked.name, sizeof(kernel->bss->asked.name), "%s", name);
	if (bpf_prog_test_run_opts(bpf_program__fd(kernel->progs.address), &run))
		return 0;
	return kernel->bss->asked.address;
}

/* A secret of this process; 0: addresses are told. */
static uint64_t secret;

void symbol_conceal(void)
{
	kernel_ready();
	while (getrandom(&secret, sizeof(secret), 0) != sizeof(secret) || !secret)
		;
}

/* splitmix64 of both: who does not know the secret cannot tell the address from it. */
static uint32_t concealed(uint64_t address)
{
	uint64_t x = address ^ secret;

	for (int i = 0; i < 2; i++) {
		x += 0x9e3779b97f4a7c15 + secret;
		x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
		x = (x ^ x >> 27) * 0x94d049bb133111eb;
		x ^= x >> 31;
	}
	return x;
}

/* One address, asked for once; a full list forgets the oldest. */
static const struct kernel_symbol {
	uint64_t address;
	char name[192], text[192];
} *symbol_find(uint64_t address)
{
	static struct kernel_symbol known[256];
	static unsigned nr;
	struct kernel_symbol *s = known;
	const char *said, *end;

	for (; s < known + sizeof(known) / sizeof(*known); s++)
		if (s->address == address)
			return s;
	s = &known[nr++ % (sizeof(known) / sizeof(*known))];
	said = ask(address);
	*s = (struct kernel_symbol){ .address = address };
	end = said ? strchr(said, '+') : NULL;
	if (!end && secret)
		snprintf(s->text, sizeof(s->text), "unknown-%08" PRIx32, concealed(address));
	else if (!end)
		snprintf(s->text, sizeof(s->text), "0x%" PRIx64, address);
	if (!end)
		return s;
	/* "name+0x8d3/0x1100 [module]": its size is of no interest */
	snprintf(s->name, sizeof(s->name), "%.*s%s", (int)(end - said), said,
		 strchrnul(end, ' '));
	snprintf(s->text, sizeof(s->text), "%.*s%s", (int)strcspn(said, "/"), said,
		 strchrnul(end, ' '));
	return s;
}

const char *symbol_at(uint64_t address)
{
	const struct kernel_symbol *s = symbol_find(address);

	return *s->name ? s->name : NULL;
}

void symbol_text(uint64_t address, char *name, size_t size)
{
	snprintf(name, size, "%s", symbol_find(address)->text);
}
