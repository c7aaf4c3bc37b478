/* SPDX-License-Identifier: GPL-2.0 */
/* What this kernel lets us do. The only place that knows. */
#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "lib/kernel/kernel.h"
#include "lib/kernel/release.h"
#include "lib/kernel/symbol.h"
#include "lib/util/log.h"
#include "ways.skel.h"

#define TYPES "/sys/kernel/btf/vmlinux"
#define TCX_INGRESS 46	/* BPF_TCX_INGRESS: Linux 6.6, not yet in Debian 12's headers */

struct btf *kernel_types(void)
{
	static struct btf *types;	/* large: read once */

	if (types)
		return types;
	types = btf__load_vmlinux_btf();
	if (!types && !access(TYPES, F_OK))
		types = btf__parse(TYPES, NULL);	/* which says why not */
	if (!types && !access(TYPES, F_OK))
		hindered(errno, NULL, "cannot read the types of this kernel in " TYPES ": %s",
			 strerror(errno));
	return types;
}

static const char *cannot_btf(void)
{
	return access(TYPES, F_OK) ?
		"this kernel does not describe its types (CONFIG_DEBUG_INFO_BTF is off)" :
		kernel_types() ? NULL : "the types of this kernel cannot be read";
}

static struct bpf_object *ways_open(const char *only)
{
	size_t size;
	const void *elf = ways_bpf__elf_bytes(&size);
	struct bpf_object *obj = bpf_object__open_mem(elf, size, NULL);
	struct bpf_program *prog;

	if (obj)
		bpf_object__for_each_program(prog, obj)
			bpf_program__set_autoload(prog, !strcmp(bpf_program__name(prog), only));
	return obj;
}

/* Load and attach one small program: what a kernel says it can, and what it does, differ. */
static bool works(const char *name, int target)
{
	struct bpf_object *obj = ways_open(name);
	struct bpf_program *prog = obj ? bpf_object__find_program_by_name(obj, name) : NULL;
	struct bpf_link *link = NULL;

	if (prog && target >= 0 && bpf_program__set_attach_target(prog, target, "way_spot"))
		prog = NULL;
	if (prog && !bpf_object__load(obj))
		link = bpf_program__attach(prog);
	if (!link)
		short_of(errno, text("try %s", name));
	bpf_link__destroy(link);
	bpf_object__close(obj);
	return link;
}

static const char *cannot_fentry(void)
{
	return cannot_btf() ? cannot_btf() : works("way_fentry", -1) ? NULL :
		"this kernel refuses BPF trampolines (fentry); lockdown, or no "
		"CONFIG_FUNCTION_TRACER";
}

static const char *cannot_dispatcher(void)
{
	struct bpf_object *obj = ways_open("way_target");
	const char *why = "this kernel refuses BPF extension programs (freplace), "
			  "so only one XDP program fits an interface";

	if (obj && !bpf_object__load(obj) &&
	    works("way_freplace",
		  bpf_program__fd(bpf_object__find_program_by_name(obj, "way_target"))))
		why = NULL;
	bpf_object__close(obj);
	return why;
}

static const char *cannot_kprobe(void)
{
	return access("/sys/bus/event_source/devices/kprobe/type", R_OK) ?
		"this kernel has no kprobes (CONFIG_KPROBES is off)" : NULL;
}

/* Not by libbpf: to find one name it would read all that there are. */
static const char *cannot_multi(void)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K }, { .code = BPF_JMP | BPF_EXIT },
	};
	const char *name = "__napi_schedule";
	LIBBPF_OPTS(bpf_prog_load_opts, load, .expected_attach_type = BPF_TRACE_KPROBE_MULTI);
	LIBBPF_OPTS(bpf_link_create_opts, link, .kprobe_multi.cnt = 1,
		    .kprobe_multi.syms = &name);
	int prog = bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", nothing, 2, &load);
	int fd = prog < 0 ? -1 : bpf_link_create(prog, 0, BPF_TRACE_KPROBE_MULTI, &link);

	if (fd < 0)
		short_of(errno, "try entry of many functions at once");
	if (fd >= 0)
		close(fd);
	if (prog >= 0)
		close(prog);
	return fd >= 0 ? NULL : "this kernel cannot attach to many functions at once "
		"(CONFIG_FPROBE is off, or it is older than 5.18)";
}

static const char *cannot_tcx(void)
{
	struct bpf_object *obj = ways_open("way_tc");
	const char *why = "this kernel is older than 6.6, which brought tcx";
	int fd = -1;

	/* No interface has this index: a kernel with tcx looks for it, an older one does not. */
	if (obj && !bpf_object__load(obj)) {
		fd = bpf_program__fd(bpf_object__find_program_by_name(obj, "way_tc"));
		fd = bpf_link_create(fd, INT32_MAX, TCX_INGRESS, NULL);
		if (fd >= 0 || errno == ENODEV)
			why = NULL;
		else
			short_of(errno, "try tc programs by links");
	}
	if (fd >= 0)
		close(fd);
	bpf_object__close(obj);
	return why;
}

static const char *cannot_dynptr(void)
{
	return works("way_dynptr", -1) ? NULL : "this kernel is older than 6.11, which lets typed "
		"tracepoints read packet data that is not linear";
}

static const char *cannot_frags(void)
{
	return symbol_address("vmemmap_base") && symbol_address("page_offset_base") ? NULL :
		"this kernel does not tell where its pages are (kallsyms; x86 only)";
}

static const char *cannot_never(void)
{
	return NULL;
}

const struct way ways[] = {
	{ "xdp", "XDP programs", true, cannot_never },
	{ "tc", "tc programs", true, cannot_never },
	{ "tp_btf", "typed tracepoints", true, cannot_btf },
	/* CO-RE finds the fields of the kernel's structures by BTF: raw_tp needs it, too */
	{ "raw_tp", "raw tracepoints", true, cannot_btf },
	{ "fentry", "function entry by trampoline", true, cannot_fentry },
	{ "kprobe", "function entry by breakpoint", true, cannot_kprobe },
	{ "tp", "tracepoints by perf", true, cannot_never },
	{ "kprobe.multi", "entry of many functions at once", false, cannot_multi },
	{ "dispatcher", "several XDP programs on one interface", false, cannot_dispatcher },
	{ "tcx", "tc programs by links", false, cannot_tcx },
	{ "dynptr", "headers that lie in pages, by the kernel", false, cannot_dynptr },
	{ "frags", "headers that lie in pages, by address", false, cannot_frags },
	{}
};

static bool listed(const char *list, const char *what)
{
	size_t len = strlen(what);

	for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (!strncmp(at, what, len) && (at[len] == ',' || !at[len]))
			return true;
	return false;
}

const char *kernel_cannot(const char *what)
{
	static struct { bool asked; const char *no; } known[sizeof(ways) / sizeof(*ways)];

	if (listed(getenv("NICPROBE_CANNOT"), what))
		return "taken away by $NICPROBE_CANNOT";
	for (const struct way *w = ways; w->name; w++) {
		if (strcmp(w->name, what))
			continue;
		if (!known[w - ways].asked)	/* to find out may take as long as an attach */
			known[w - ways].no = w->cannot();
		known[w - ways].asked = true;	/* hindered or not: who attaches ends then */
		return known[w - ways].no;
	}
	return NULL;
}

static const struct way *way_of(const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog);

	for (const struct way *w = ways; w->name; w++) {
		size_t len = strlen(w->name);

		if (w->section && !strncmp(section, w->name, len) &&
		    (!section[len] || section[len] == '/' || section[len] == '.'))
			return w;
	}
	return NULL;
}

/* The length of NAME in NAME__way. */
static size_t stem(const char *name)
{
	const char *end = strstr(name, "__");

	return end ? (size_t)(end - name) : strlen(name);
}

static bool alternatives(const char *a, const char *b)
{
	return stem(a) == stem(b) && !strncmp(a, b, stem(a));
}

/* Has this kernel the tracepoint or function that the program's section names, and needs it? */
static bool place_exists(const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog), *place = strchr(section, '/');
	const struct btf *btf = kernel_types();
	int id = -ENOENT;

	if (!btf || !place || !release_needs(place + 1))
		return false;
	if (!strncmp(section, "f", 1))	/* fentry, fexit */
		id = btf__find_by_name_kind(btf, place + 1, BTF_KIND_FUNC);
	else
		id = btf__find_by_name_kind(btf, text("btf_trace_%s", place + 1),
					    BTF_KIND_TYPEDEF);
	return id > 0;
}

static char left_out[128];	/* places of programs that may be missing, and are */

static void leave_out(const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog);
	const char *place = strchr(section, '/') ?: "/?";
	size_t at = strlen(left_out);

	if (*section != 'f' && !strstr(left_out, place + 1))	/* not the function as well */
		snprintf(left_out + at, sizeof(left_out) - at, "%s%s", at ? ", " : "", place + 1);
}

const char *kernel_left_out(void)
{
	return left_out;
}

int kernel_choose(struct bpf_object *obj)
{
	struct bpf_program *prog, *other;

	*left_out = '\0';
	bpf_object__for_each_program(prog, obj) {
		const struct way *best = NULL, *w;
		bool optional = !bpf_program__autoload(prog);	/* SEC("?…") */
		const char *why = "";

		bpf_object__for_each_program(other, obj) {
			const char *no;

			if (!alternatives(bpf_program__name(prog), bpf_program__name(other)))
				continue;
			w = way_of(other);
			no = w ? kernel_cannot(w->name) : "unknown to nicprobe";
			if (!no && optional && (kernel_cannot("optional") || !place_exists(other)))
				no = "not in this kernel";
			if (!no && (!best || w < best))
				best = w;
			if (no)
				why = no;
		}
		if (!best && optional)
			leave_out(prog);
		else if (!best)
			return complain(-EOPNOTSUPP, NULL, "%s", why);
		bpf_program__set_autoload(prog, best && way_of(prog) == best);
	}
	return 0;
}

const char *kernel_chosen(const struct bpf_object *obj, const char *name)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, (struct bpf_object *)obj)
		if (bpf_program__autoload(prog) && alternatives(bpf_program__name(prog), name))
			return bpf_program__section_name(prog);
	return NULL;
}

bool kernel_function(const char *name)
{
	const struct btf *types = kernel_types();

	return types && btf__find_by_name_kind(types, name, BTF_KIND_FUNC) > 0;
}

static const struct btf_var_secinfo *percpu_find(const char *name)
{
	const struct btf *types = kernel_types();
	int id = types ? btf__find_by_name_kind(types, ".data..percpu", BTF_KIND_DATASEC) : -1;
	const struct btf_type *section = id > 0 ? btf__type_by_id(types, id) : NULL;

	for (int i = 0; section && i < btf_vlen(section); i++) {
		const struct btf_var_secinfo *var = btf_var_secinfos(section) + i;
		const struct btf_type *type = btf__type_by_id(types, var->type);

		if (!strcmp(btf__name_by_offset(types, type->name_off), name))
			return var;
	}
	return NULL;
}

bool kernel_percpu(const char *name, __u64 *offset)
{
	const struct btf_var_secinfo *var = percpu_find(name), *from = percpu_find("runqueues");

	if (var && from)
		*offset = (__u64)var->offset - from->offset;
	return var && from;
}

static int permits(bool mounts)
{
	static const struct { int bit; const char *name; } wanted[] = {
		{ CAP_BPF, "CAP_BPF" }, { CAP_NET_ADMIN, "CAP_NET_ADMIN" },
		{ CAP_PERFMON, "CAP_PERFMON" }, { CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
	};
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {};
	const char *missing = "";

	if (syscall(SYS_capget, &head, data))
		return complain(-errno, NULL, "cannot read our own capabilities: %s",
				strerror(errno));
	for (unsigned i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		int bit = wanted[i].bit;
		bool have = data[bit / 32].effective >> bit % 32 & 1;

		/* before 5.8 CAP_SYS_ADMIN was all of them, and is still the first and the last */
		if (bit != CAP_NET_ADMIN && data[0].effective >> CAP_SYS_ADMIN & 1)
			have = true;
		if (!have && (bit != CAP_SYS_ADMIN || mounts))
			missing = text("%s%s%s", missing, *missing ? ", " : "", wanted[i].name);
	}
	if (*missing)
		return complain(-EPERM, "run it as root, or with these capabilities",
				"this needs %s", missing);
	return 0;
}

int kernel_permits(void)
{
	return permits(false);
}

int kernel_permits_mounts(void)
{
	return permits(true);
}
