/* SPDX-License-Identifier: GPL-2.0 */
/* What this kernel can do, found out by trying it. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "lib/core/hook.h"
#include "lib/kernel/btf.h"
#include "lib/kernel/cgroup.h"
#include "lib/kernel/feature.h"
#include "lib/kernel/insn.h"
#include "lib/kernel/release.h"
#include "lib/kernel/symbol.h"
#include "lib/kernel/tcx.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "lib/util/shortage.h"
#include "ways.skel.h"

static const char *lacks_btf(void)
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

	if (prog && bpf_program__set_attach_target(prog, target, "way_spot"))
		prog = NULL;
	if (prog && !kernel_load(obj))
		link = bpf_program__attach(prog);
	if (!link)
		short_of(errno, text("try %s", name));
	bpf_link__destroy(link);
	bpf_object__close(obj);
	return link;
}

/* Without an object: libbpf would read the types of the kernel anew for each. */
static int small_load(enum bpf_prog_type type, enum bpf_attach_type how, int to,
		      const struct bpf_insn *insns, size_t nr)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = how, .attach_btf_id = to);

	return bpf_prog_load(type, NULL, "GPL", insns, nr, &opts);
}

static const char *lacks_fentry(void)
{
	static const struct bpf_insn nothing[] = { EXIT_WITH(0) };
	int to = kernel_type("__napi_schedule", BTF_KIND_FUNC), prog = -1, link = -1;

	if (lacks_btf())
		return lacks_btf();
	if (to > 0)
		prog = small_load(BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, to, nothing, 2);
	if (prog >= 0)
		link = bpf_link_create(prog, 0, BPF_TRACE_FENTRY, NULL);
	if (to > 0 && link < 0)
		short_of(errno, "try entry of a function by trampoline");
	if (link >= 0)
		close(link);
	if (prog >= 0)
		close(prog);
	return link >= 0 ? NULL : "this kernel refuses BPF trampolines (fentry); lockdown, or no "
				  "CONFIG_FUNCTION_TRACER";
}

bool kernel_enters(const char *function)
{
	static const struct bpf_insn nothing[] = { EXIT_WITH(0) };
	int to = kernel_type(function, BTF_KIND_FUNC), prog;

	if (to <= 0)
		return false;
	prog = small_load(BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, to, nothing, 2);
	if (prog < 0)
		return errno != ENOENT;		/* for another reason: its own load will tell */
	close(prog);
	return true;
}

static const char *lacks_dispatcher(void)
{
	struct bpf_object *obj = ways_open("way_target");
	const char *why = "this kernel refuses BPF extension programs (freplace), "
			  "so only one XDP program fits an interface";

	if (obj && !kernel_load(obj) &&
	    works("way_freplace",
		  bpf_program__fd(bpf_object__find_program_by_name(obj, "way_target"))))
		why = NULL;
	bpf_object__close(obj);
	return why && module_types_hidden() ?
		"without CAP_SYS_ADMIN only one XDP program fits an interface" : why;
}

static const char *lacks_kprobe(void)
{
	return access("/sys/bus/event_source/devices/kprobe/type", R_OK) ?
		"this kernel has no kprobes (CONFIG_KPROBES is off)" : NULL;
}

static const char *lacks_uprobe(void)
{
	return access("/sys/bus/event_source/devices/uprobe/type", R_OK) ?
		"this kernel has no uprobes (CONFIG_UPROBE_EVENTS is off)" : NULL;
}

/* Not by libbpf: to find one name it would read all that there are. */
static const char *lacks_multi(void)
{
	static const struct bpf_insn nothing[] = { EXIT_WITH(0) };
	const char *name = "__napi_schedule";
	LIBBPF_OPTS(bpf_link_create_opts, link, .kprobe_multi.cnt = 1,
		    .kprobe_multi.syms = &name);
	int prog = small_load(BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI, 0, nothing, 2);
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

static const char *lacks_tcx(void)
{
	static const struct bpf_insn nothing[] = { EXIT_WITH(-1) };
	const char *why = "this kernel is older than 6.6, which brought tcx";
	int prog = small_load(BPF_PROG_TYPE_SCHED_CLS, 0, 0, nothing, 2), fd = -1;

	/* No interface has this index: a kernel with tcx looks for it, an older one does not. */
	if (prog >= 0)
		fd = bpf_link_create(prog, INT32_MAX, TCX_INGRESS, NULL);
	if (fd >= 0 || (prog >= 0 && errno == ENODEV))
		why = NULL;
	else
		short_of(errno, "try tc programs by links");
	if (fd >= 0)
		close(fd);
	if (prog >= 0)
		close(prog);
	return why;
}

/* Does this kernel have bpf_dynptr_from_skb(), and for typed tracepoints? Loading it tells. */
static const char *lacks_dynptr(void)
{
	int function = kernel_type("bpf_dynptr_from_skb", BTF_KIND_FUNC);
	int to = kernel_type("btf_trace_consume_skb", BTF_KIND_TYPEDEF);
	const struct bpf_insn insns[] = {
		INSN(BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = 1, .src_reg = 1),
		SET(BPF_REG_2, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 3, .src_reg = 10),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 3, .imm = -16),
		INSN(BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL, .imm = function),
		EXIT_WITH(0),
	};
	int prog = function <= 0 || to <= 0 ? -1 :
		   small_load(BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, to, insns,
			      sizeof(insns) / sizeof(*insns));

	if (function > 0 && prog < 0)
		short_of(errno, "try headers that lie in pages");
	if (prog >= 0)
		close(prog);
	return prog >= 0 ? NULL : "this kernel is older than 6.11, which lets typed "
		"tracepoints read packet data that is not linear";
}

static const char *lacks_frags(void)
{
	return symbol_address("vmemmap_base") && symbol_address("page_offset_base") ? NULL :
		"this kernel does not tell where its pages are (kallsyms; x86 only)";
}

static const char *lacks_nothing(void)
{
	return NULL;
}

static const char *lacks_cgroup(void)
{
	static char why[200];

	if (!kernel_function("__cgroup_bpf_run_filter_sk"))
		return "this kernel runs no BPF programs for cgroups (CONFIG_CGROUP_BPF is off)";
	snprintf(why, sizeof(why), "%s", cgroup_missing() ?: "");
	return *why ? why : NULL;
}

static const char *lacks_depth(void)
{
	return release_preempts() ? "a task may be put aside within a program at a tracepoint" :
				    NULL;
}

const struct feature features[] = {
	[FEATURE_XDP] = { "xdp", "XDP programs", true, lacks_nothing },
	[FEATURE_TC] = { "tc", "tc programs", true, lacks_nothing },
	[FEATURE_TP_BTF] = { "tp_btf", "typed tracepoints", true, lacks_btf },
	/* CO-RE finds the fields of the kernel's structures by BTF: raw_tp needs it, too */
	[FEATURE_RAW_TP] = { "raw_tp", "raw tracepoints", true, lacks_btf },
	[FEATURE_FENTRY] = { "fentry", "function entry by trampoline", true, lacks_fentry },
	[FEATURE_KPROBE] = { "kprobe", "function entry by breakpoint", true, lacks_kprobe },
	[FEATURE_UPROBE] = { "uprobe", "functions of programs and libraries", true, lacks_uprobe },
	[FEATURE_TP] = { "tp", "tracepoints by perf", true, lacks_nothing },
	[FEATURE_KPROBE_MULTI] = { "kprobe.multi", "entry of many functions at once", false,
				   lacks_multi },
	[FEATURE_DISPATCHER] = { "dispatcher", "several XDP programs on one interface", false,
				 lacks_dispatcher },
	[FEATURE_TCX] = { "tcx", "tc programs by links", false, lacks_tcx },
	[FEATURE_DYNPTR] = { "dynptr", "headers that lie in pages, by the kernel", false,
			     lacks_dynptr },
	[FEATURE_FRAGS] = { "frags", "headers that lie in pages, by address", false, lacks_frags },
	[FEATURE_OPTIONAL] = { "optional", .lacks = lacks_nothing },
	[FEATURE_DEVICE] = { "device", .lacks = lacks_nothing },
	[FEATURE_PERCPU] = { "percpu", .lacks = lacks_nothing },
	[FEATURE_RECORDED] = { "recorded", .lacks = lacks_nothing },
	[FEATURE_MODULE_BTF] = { "module_btf", .lacks = lacks_nothing },
	[FEATURE_XSK_DIAG] = { "xsk-diag", .lacks = lacks_nothing },
	[FEATURE_NETFILTER] = { "netfilter", .lacks = lacks_nothing },
	[FEATURE_CGROUP] = { "cgroup", .method = true, .lacks = lacks_cgroup },
	[FEATURE_DEPTH] = { "depth", .lacks = lacks_depth },
	{}
};

/*
 * What else can be denied, besides features and hooks: netlink families, programs that unpack, what
 * meters ask for, and ways of a driver that spare them programs.
 */
static const char *const deniable[] = {
	"devlink", "ethtool", "netdev", "nl80211", "gzip", "xz", "zstd", "uretprobe",
	"sys_exit", "orderly", NULL
};

#define DENIALS "NICPROBE_CANNOT"

/* The next word of a list separated by commas, its length in `len`; NULL: there is none. */
static const char *word(const char *list, const char *last, size_t *len)
{
	const char *at = last ? last + *len : list;

	at = at ? at + strspn(at, ",") : NULL;
	*len = at ? strcspn(at, ",") : 0;
	return *len ? at : NULL;
}

const char *denied(const char *name)
{
	const char *list = getenv(DENIALS);
	size_t len;

	for (const char *at = NULL; (at = word(list, at, &len));)
		if (strlen(name) == len && !strncmp(at, name, len))
			return "taken away by $" DENIALS;
	return NULL;
}

static bool can_be_denied(const char *name, size_t len)
{
	bool is = false;

	for (const struct feature *f = features; f->name; f++)
		is |= strlen(f->name) == len && !strncmp(f->name, name, len);
	for (const struct hook *const *t = hooks; *t; t++)
		is |= strlen((*t)->name) == len && !strncmp((*t)->name, name, len);
	for (unsigned i = 0; deniable[i]; i++)
		is |= strlen(deniable[i]) == len && !strncmp(deniable[i], name, len);
	return is;
}

int denials_check(struct error *e)
{
	const char *list = getenv(DENIALS);
	size_t len;

	for (const char *at = NULL; (at = word(list, at, &len));)
		if (!can_be_denied(at, len))
			return error_set(e, -EINVAL,
					 "nicprobe list -v names what this kernel can do",
					 "$" DENIALS " lists \"%.*s\", which nothing goes by",
					 (int)len, at);
	return 0;
}

const char *kernel_lacks(enum kernel_feature f)
{
	static struct { bool asked; const char *why; } known[NR_FEATURES];

	if (denied(features[f].name))
		return denied(features[f].name);
	if (!known[f].asked)
		known[f].why = features[f].lacks();
	known[f].asked = true;	/* whether for a shortage or not: an attach ends then */
	return known[f].why;
}
