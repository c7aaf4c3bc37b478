/* SPDX-License-Identifier: GPL-2.0 */
/* What an address of the running kernel is called, and where what is called so is. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "lib/kernel/symbol.h"
#include "lib/kernel/symbol_ask.h"
#include "lib/util/list.h"

uint64_t symbol_address(const char *name)
{
	struct symbol_query q = {};

	snprintf(q.name, sizeof(q.name), "%s", name);
	return symbol_ask(SYMBOL_ADDRESS, &q) ? q.address : 0;
}

/* A secret of this process; 0: addresses are told. */
static uint64_t secret;

void symbol_conceal(void)
{
	symbol_ask_ready();
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
	char name[192], text[192];
} *symbol_find(uint64_t address)
{
	static const struct kernel_symbol none;		/* address 0: nothing to be called */
	static struct kernel_symbol known[256];
	static uint64_t addresses[NR_OF(known)];	/* apart: they are searched */
	static unsigned nr;
	struct symbol_query q = { .address = address };
	struct kernel_symbol *s;
	const char *said, *end;

	if (!address)
		return &none;
	for (unsigned i = 0; i < nr && i < NR_OF(known); i++)
		if (addresses[i] == address)
			return &known[i];
	addresses[nr % NR_OF(known)] = address;
	s = &known[nr++ % NR_OF(known)];
	said = symbol_ask(SYMBOL_NAME, &q) ? q.name : "";
	*s = (struct kernel_symbol){};
	end = strchr(said, '+');
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
