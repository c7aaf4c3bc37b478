/* SPDX-License-Identifier: GPL-2.0 */
/* What the running kernel calls its own numbers: values of an enum, addresses of code. */
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "log.h"
#include "names.h"

#define PREFIX	"SKB_DROP_REASON_"
#define SUBSYS	16	/* the upper half of a reason is the subsystem that counts in the lower */

static struct btf *vmlinux(void)
{
	static struct btf *btf;

	if (!btf)
		btf = btf__load_vmlinux_btf();
	return btf;
}

/* The name of a value in one enum; NULL: it has none. */
static const char *enum_name(const struct btf *btf, const struct btf_type *t, uint32_t value)
{
	const struct btf_enum *e = btf_enum(t);

	for (unsigned i = 0; i < btf_vlen(t); i++)
		if ((uint32_t)e[i].val == value)
			return btf__str_by_offset(btf, e[i].name_off);
	return NULL;
}

/* The name of a value in the enums whose own names hold `what`, types from `first` on. */
static const char *enums_name(const struct btf *btf, unsigned first, const char *what,
			      uint32_t value)
{
	for (unsigned id = first; id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const char *name;

		if (!btf_is_enum(t) || !strstr(btf__str_by_offset(btf, t->name_off), what))
			continue;
		name = enum_name(btf, t, value);
		if (name)
			return name;
	}
	return NULL;
}

/* A subsystem may be a module: its names are in its own BTF, once it is loaded. */
static const char *module_name(uint32_t reason)
{
	struct dirent *entry;
	const char *name = NULL;
	DIR *d = opendir("/sys/kernel/btf");

	while (vmlinux() && d && !name && (entry = readdir(d))) {
		struct btf *btf;

		if (*entry->d_name == '.' || !strcmp(entry->d_name, "vmlinux"))
			continue;
		btf = btf__load_module_btf(entry->d_name, vmlinux());
		if (!btf)
			continue;
		name = enums_name(btf, btf__type_cnt(vmlinux()), "drop_reason", reason);
		if (name)
			name = strdup(name);	/* once a reason: it is remembered */
		btf__free(btf);
	}
	if (d)
		closedir(d);
	return name;
}

static const char *reason_find(uint32_t reason)
{
	const struct btf *btf = vmlinux();
	const char *name = NULL;
	int id = btf ? btf__find_by_name_kind(btf, "skb_drop_reason", BTF_KIND_ENUM) : 0;

	if (id > 0 && !(reason >> SUBSYS))
		name = enum_name(btf, btf__type_by_id(btf, id), reason);
	if (btf && !name && reason >> SUBSYS)
		name = enums_name(btf, 1, "drop_reason", reason) ?: module_name(reason);
	if (name && !strncmp(name, PREFIX, strlen(PREFIX)))
		name += strlen(PREFIX);
	return name ? name + strspn(name, "_") : NULL;
}

/* "OPENVSWITCH_7": whose it is, where its own name is not to be had. */
static const char *reason_guess(uint32_t reason)
{
	uint32_t subsystem = reason >> SUBSYS;
	const char *of = subsystem && vmlinux() ?
			 enums_name(vmlinux(), 1, "skb_drop_reason_subsys", subsystem) : NULL;

	if (!of || strncmp(of, PREFIX "SUBSYS_", strlen(PREFIX "SUBSYS_")))
		return text("?%" PRIx32, reason);
	return text("%s_%u", of + strlen(PREFIX "SUBSYS_"), reason & 0xffff);
}

const char *drop_reason_name(uint32_t reason)
{
	static struct { uint32_t reason; char name[64]; } known[256];
	static unsigned nr;
	const char *name;

	for (unsigned i = 0; i < nr; i++)
		if (known[i].reason == reason)
			return known[i].name;
	name = reason_find(reason) ?: reason_guess(reason);
	if (nr == sizeof(known) / sizeof(*known))
		return name;
	known[nr].reason = reason;
	snprintf(known[nr].name, sizeof(known[nr].name), "%s", name);
	return known[nr++].name;
}

unsigned tracepoint_args(const char *name)
{
	const struct btf *btf = vmlinux();
	int id = btf ? btf__find_by_name_kind(btf, text("btf_trace_%s", name), BTF_KIND_TYPEDEF) :
		 -1;
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;

	while (t && (btf_is_typedef(t) || btf_is_ptr(t)))
		t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) ? btf_vlen(t) - 1 : 0;	/* the first is the probe's own */
}

/* All that /proc/kallsyms says of code, by address. */
static struct symbols {
	struct symbol { uint64_t address; char *name; } *list;
	size_t nr;
	bool read, zeros;
} symbols;

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address == y->address)
		return strcmp(y->name ?: "", x->name ?: "");
	return x->address < y->address ? -1 : 1;
}

static void symbol_add(struct symbols *s, char *line)
{
	char *rest, *module;
	uint64_t address = strtoull(line, &rest, 16);

	if (strlen(rest) < 4 || !strchr("tTwW", rest[1]))
		return;
	s->zeros |= !address;
	if (!address)
		return;
	if (!(s->nr & (s->nr - 1))) {	/* as many as there is room for */
		void *list = realloc(s->list, (s->nr ? 2 * s->nr : 1) * sizeof(*s->list));

		if (!list)
			return;
		s->list = list;
	}
	rest[strcspn(rest, "\n")] = '\0';
	module = strchr(rest, '\t');
	if (module)
		*module = ' ';
	s->list[s->nr++] = (struct symbol){ address, strdup(rest + 3) };
}

static const struct symbols *symbols_read(void)
{
	char line[1024];
	FILE *f;

	if (symbols.read)
		return &symbols;
	symbols.read = true;
	f = fopen("/proc/kallsyms", "re");
	while (f && fgets(line, sizeof(line), f))
		symbol_add(&symbols, line);
	if (f)
		fclose(f);
	if (symbols.nr)
		qsort(symbols.list, symbols.nr, sizeof(*symbols.list), by_address);
	return &symbols;
}

static const struct symbol *symbol_find(uint64_t address)
{
	const struct symbols *s = symbols_read();
	size_t low = 0, high = s->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->list[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &s->list[low - 1] : NULL;
}

const char *symbol_at(uint64_t address)
{
	const struct symbol *s = symbol_find(address);

	return s ? s->name : NULL;
}

void symbol_text(uint64_t address, char *name, size_t size)
{
	const struct symbol *s = symbol_find(address);
	size_t len = s && s->name ? strcspn(s->name, " ") : 0;

	if (len)
		snprintf(name, size, "%.*s+0x%" PRIx64 "%s", (int)len, s->name,
			 address - s->address, s->name + len);
	else if (symbols_hidden())
		snprintf(name, size, "hidden");
	else
		snprintf(name, size, "0x%" PRIx64, address);
}

const char *symbols_hidden(void)
{
	const struct symbols *s = symbols_read();

	if (s->nr)
		return NULL;
	return s->zeros ? "the kernel hides where its functions are (sysctl kernel.kptr_restrict)" :
	       "this kernel does not tell where its functions are (no /proc/kallsyms)";
}
