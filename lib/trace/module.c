/* SPDX-License-Identifier: GPL-2.0 */
/* Tells from a module's file what a tracer could do with it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "lib/core/nic_driver.h"
#include "lib/trace/module.h"
#include "lib/trace/module_file.h"
#include "lib/trace/unpack.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

#define MOST_ARGS 6	/* of a BPF trampoline on x86, before Linux 6.6 */

/* The vmlinux whose BTF the module needs: most functions that its BTF names should exist there. */
static bool btf_fits(const struct module *m)
{
	unsigned nr = btf__type_cnt(m->btf), named = 0, there = 0;

	for (unsigned i = m->base ? btf__type_cnt(m->base) : 1; i < nr; i++) {
		const struct btf_type *t = btf__type_by_id(m->btf, i);
		struct symbol key = { .name = t ? btf__name_by_offset(m->btf, t->name_off) : "" };

		if (!t || !btf_is_func(t))
			continue;
		named++;
		there += key.name && bsearch(&key, m->symbols, m->nr_symbols, sizeof(key),
					     symbol_compare);
	}
	return there * 2 >= named;
}

static struct btf *base_find(const struct module *m)
{
	const char *places[] = {
		text("/lib/modules/%s/build/vmlinux", m->release),
		text("/usr/lib/debug/boot/vmlinux-%s", m->release),
		text("/boot/vmlinux-%s", m->release),
	};
	struct utsname here;
	struct btf *base = NULL;

	uname(&here);
	if (!strcmp(here.release, m->release))
		base = btf__load_vmlinux_btf();
	for (unsigned i = 0; !base && i < sizeof(places) / sizeof(*places); i++)
		if (!access(places[i], R_OK))
			base = btf__parse(places[i], NULL);
	return base;
}

/* libbpf 1.1 declares btf__new_split() but does not export it, so go through a file. */
static struct btf *btf_of(const Elf_Data *data, struct btf *base)
{
	int fd = memfd_create("btf", MFD_CLOEXEC);
	struct btf *btf = NULL;

	if (fd >= 0 && write(fd, data->d_buf, data->d_size) == (ssize_t)data->d_size)
		btf = btf__parse_raw_split(text("/proc/self/fd/%d", fd), base);
	if (fd >= 0)
		close(fd);
	return btf;
}

/* Its type IDs continue those of its kernel, or (6.11) of an extract of them. */
static int btf_read(struct module *m, const char *path, struct error *e)
{
	Elf_Scn *scn = section_find(m, ".BTF"), *own = section_find(m, ".BTF.base");
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	Elf_Data *extract = own ? elf_rawdata(own, NULL) : NULL;
	struct stat st;

	if (path) {
		if (!stat(path, &st) && !S_ISREG(st.st_mode))
			return error_set(e, -EINVAL, NULL,
					 "cannot read kernel types (BTF) from %s: it "
					 "is no file",
					 path);
		m->base = btf__parse(path, NULL);
		if (!m->base)
			return error_set(e, -EINVAL, NULL,
					 "cannot read kernel types (BTF) from %s: %s", path,
					 access(path, R_OK) ? strerror(errno) : "it has none");
	} else if (extract && extract->d_buf) {
		m->base = btf__new(extract->d_buf, extract->d_size);
	} else {
		m->base = data ? base_find(m) : NULL;
	}
	if (!data || !data->d_buf)
		m->no_btf = "the module has no types (BTF)";
	else if (!m->base)
		m->no_btf = "the types (BTF) of its kernel are missing: give its vmlinux by --btf";
	else
		m->btf = btf_of(data, m->base);
	if (m->btf && !btf_fits(m)) {
		btf__free(m->btf);
		m->btf = NULL;
	}
	if (!m->btf && !m->no_btf)
		m->no_btf = "its types (BTF) do not match this vmlinux: it was built for another";
	return 0;
}

struct module *module_open(const char *path, const char *btf, struct error *e)
{
	struct module *m = calloc(1, sizeof(*m));

	if (!m) {
		error_set(e, -ENOMEM, NULL, "cannot check %s: no memory", path);
		return NULL;
	}
	elf_version(EV_CURRENT);
	m->file = unpack_file(path, &m->size, e);
	m->elf = m->file ? elf_memory(m->file, m->size) : NULL;
	if (m->file && !module_read(m, path, e) && !btf_read(m, btf, e))
		return m;
	module_close(m);
	return NULL;
}

void module_close(struct module *m)
{
	btf__free(m->btf);
	btf__free(m->base);
	strings_free(&m->strings);
	free(m->sites);
	free(m->symbols);
	elf_end(m->elf);
	free(m->file);
	free(m);
}

const char *module_name(const struct module *m)
{
	return m->name;
}

const char *module_release(const struct module *m)
{
	return m->release;
}

const char *module_machine(const struct module *m)
{
	static const struct { unsigned machine; const char *name, *uname; } machines[] = {
		{ EM_X86_64, "x86-64", "x86_64" }, { EM_AARCH64, "arm64", "aarch64" },
		{ EM_RISCV, "RISC-V", "riscv64" }, { EM_PPC64, "PowerPC", "ppc64le" },
		{ EM_S390, "s390", "s390x" }, { EM_ARM, "ARM", "armv7l" },
		{ EM_386, "x86 of 32 bits", "i686" },
	};
	struct utsname here;

	uname(&here);
	for (unsigned i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machines[i].machine == m->machine)
			return strcmp(machines[i].uname, here.machine) ? machines[i].name : NULL;
	return "another machine";
}

const char *module_no_btf(const struct module *m)
{
	return m->no_btf;
}

/* The first symbol of this name or, with `longer`, of "name.…", the compiler's clones. */
static const struct symbol *symbol_find(const struct module *m, const char *name, bool longer)
{
	size_t len = strlen(name);

	for (unsigned i = 0; i < m->nr_symbols; i++) {
		const struct symbol *s = &m->symbols[i];

		if (!strncmp(s->name, name, len) && s->name[len] == (longer ? '.' : '\0'))
			return s;
	}
	return NULL;
}

static unsigned copies(const struct module *m, const char *name)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < m->nr_symbols; i++)
		nr += m->symbols[i].function && !strcmp(m->symbols[i].name, name);
	return nr;
}

/* Linux looks for a site within the first bytes of a function, or before it. */
static bool traceable(const struct module *m, const struct symbol *s)
{
	for (unsigned i = 0; i < m->nr_sites; i++) {
		const struct trace_site *t = &m->sites[i];

		if (t->section == s->section && t->at + m->before >= s->at && t->at <= s->at + 16)
			return true;
	}
	return false;
}

/* Kprobe events, and so BPF, cannot use notrace functions, and every inlined one is notrace. */
static const char *why_no_kprobe(const struct module *m, const struct symbol *s)
{
	unsigned nr = copies(m, s->name);

	if (m->nr_sites && !traceable(m, s))
		return "notrace";
	return nr > 1 ? text("%u functions have this name", nr) : NULL;
}

static const char *why_no_fentry(const struct module *m, const struct symbol *s)
{
	unsigned version = release_version(m->release);
	const struct btf_type *t;
	int id;

	if (!m->nr_sites)
		return "built without ftrace";
	if (!m->btf)
		return "";
	id = btf__find_by_name_kind(m->btf, s->name, BTF_KIND_FUNC);
	t = id > 0 ? btf__type_by_id(m->btf, id) : NULL;
	t = t ? btf__type_by_id(m->btf, t->type) : NULL;
	if (!t)
		return "it has no type (BTF)";
	if (version && version < KERNEL(6, 6) && btf_vlen(t) > MOST_ARGS)
		return text("%u arguments; before 6.6 at most %d", btf_vlen(t), MOST_ARGS);
	return NULL;
}

struct spot module_function(const struct module *m, const char *name)
{
	const struct symbol *s = symbol_find(m, name, false);
	struct spot spot = { .there = s && s->function };
	const char *why;

	if (!spot.there) {
		s = symbol_find(m, name, true);
		if (s)
			snprintf(spot.why, sizeof(spot.why), "changed to %s", s->name);
		return spot;
	}
	why = why_no_kprobe(m, s);
	spot.kprobe = !why;
	why = why ?: why_no_fentry(m, s);
	spot.fentry = !why;
	snprintf(spot.why, sizeof(spot.why), "%s", why ?: "");
	return spot;
}

struct spot module_tracepoint(const struct module *m, const char *name)
{
	const struct symbol *s = symbol_find(m, text("__tracepoint_%s", name), false);

	return (struct spot){ .there = s && !s->function };
}

/* Compilers turn the first 8 bytes of a copied short string into an immediate. */
static bool in_code(const Elf_Data *code, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i + 8 <= len; i += 8)
		if (!memmem(code->d_buf, code->d_size, name + i, 8))
			return false;
	return len >= 16;
}

bool module_says(const struct module *m, const char *name)
{
	GElf_Shdr head;

	if (strings_make(&m->strings, name))
		return true;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(m->elf, scn));) {
		Elf_Data *code = gelf_getshdr(scn, &head) && head.sh_flags & SHF_EXECINSTR ?
			elf_rawdata(scn, NULL) : NULL;

		if (code && code->d_buf && in_code(code, name))
			return true;
	}
	return false;
}
