/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attaches to functions and tracepoints: to few functions by a copy of a program for each, to many
 * by one program, whose cookie tells which it is.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/kernel/feature.h"
#include "lib/trace/perf_link.h"
#include "lib/trace/probe_types.h"
#include "lib/util/error.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"
#include "probes/raw.h"
#include "probes/raw_attach.h"

/*
 * More than these are attached by fentry only if nothing else works: to detach each takes a grace
 * period of RCU tasks.
 */
#define FEW	16

static bool by_fentry(unsigned nr)
{
	if (kernel_lacks(FEATURE_FENTRY))
		return false;
	return nr <= FEW || (kernel_lacks(FEATURE_KPROBE) && kernel_lacks(FEATURE_KPROBE_MULTI));
}

static unsigned functions(void)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < raw_asked.nr; i++)
		nr += raw_asked.list[i].probe != PROBE_sdt_event;
	return nr;
}

/* By a copy of its own? A type cannot tell two functions of one name apart. */
static bool copied(const struct raw_named *s)
{
	return s->probe == PROBE_sdt_event || (by_fentry(functions()) && s->btf && !s->twice);
}

static enum source source_of(const struct raw_named *s)
{
	return s->probe == PROBE_sdt_event ? SOURCE_sdt_event :
	       s->probe == PROBE_fbt_entry ? SOURCE_fbt_enter : SOURCE_fbt_exit;
}

static bool is_copied(const struct bpf_program *prog)
{
	return !strstr(bpf_program__name(prog), "__kprobe");
}

bool raw_wanted(const struct bpf_program *prog)
{
	bool enters = !strncmp(bpf_program__name(prog), "fbt_enter", 9);
	bool returns = !strncmp(bpf_program__name(prog), "fbt_exit", 8);
	enum source s = enters ? SOURCE_fbt_enter : returns ? SOURCE_fbt_exit : SOURCE_sdt_event;

	for (unsigned i = 0; i < raw_asked.nr; i++)
		if (source_of(&raw_asked.list[i]) == s &&
		    copied(&raw_asked.list[i]) == is_copied(prog))
			return true;
	return false;
}

int raw_prepare(struct tracing *t, struct error *e)
{
	struct stable_bpf *b = t->skel;
	bool multi = !kernel_lacks(FEATURE_KPROBE_MULTI);
	int err = 0;

	for (unsigned i = 0; i < raw_asked.nr; i++)
		b->rodata->raw_spots[i] = raw_asked.list[i].spot;
	if (!functions())
		return 0;
	if (by_fentry(functions())) {
		/* what is copied must be loaded once: it is attached nowhere */
		err = bpf_program__set_attach_target(b->progs.fbt_enter, 0, "__napi_schedule");
		err = err ?: bpf_program__set_attach_target(b->progs.fbt_exit, 0,
							    "__napi_schedule");
	}
	if (multi) {
		bpf_program__set_expected_attach_type(b->progs.fbt_enter__kprobe,
						      BPF_TRACE_KPROBE_MULTI);
		bpf_program__set_expected_attach_type(b->progs.fbt_exit__kprobe,
						      BPF_TRACE_KPROBE_MULTI);
	}
	return err ? error_set(e, err, NULL, "cannot prepare the programs of functions: %s",
			       strerror(-err)) : 0;
}

/* Writes the number of the spot where the program has the mark. */
static bool mark(struct bpf_insn *insns, size_t nr, __u32 spot)
{
	bool found = false;

	for (size_t i = 0; i + 1 < nr; i++) {
		if (insns[i].code != (BPF_LD | BPF_IMM | BPF_DW) || insns[i].src_reg ||
		    insns[i].imm != (__s32)(RAW_MARK & 0xffffffff) ||
		    insns[i + 1].imm != (__s32)(RAW_MARK >> 32))
			continue;
		insns[i].imm = spot;
		insns[i + 1].imm = 0;
		found = true;
	}
	return found;
}

static int copy_load(struct bpf_program *prog, const struct raw_named *s,
		     struct probe_types *types)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = bpf_program__expected_attach_type(prog));
	size_t nr = bpf_program__insn_cnt(prog), size = nr * sizeof(struct bpf_insn);
	struct bpf_insn *insns = malloc(size);
	struct probe_type of = {};
	int fd, err = insns ? 0 : -ENOMEM;

	if (!err && s->probe != PROBE_sdt_event)
		err = probe_type(types, s->name, s->of, &of);
	opts.attach_btf_id = of.id;
	opts.attach_btf_obj_fd = of.fd;
	if (!err) {
		memcpy(insns, bpf_program__insns(prog), size);
		err = mark(insns, nr, s - raw_asked.list) ? 0 : -EINVAL;
	}
	fd = err ?: bpf_prog_load(bpf_program__type(prog), bpf_program__name(prog), "GPL", insns,
				  nr, &opts);
	err = err ?: fd < 0 ? -errno : 0;
	free(insns);
	return err ?: fd;
}

/* The program ends with the tracing, as it knows what it missed. */
static int copy_keep(struct tracing *t, int prog)
{
	int *list = grow(t->copies, t->nr_copies, sizeof(*list));

	if (!list) {
		close(prog);
		return -ENOMEM;
	}
	t->copies = list;
	list[t->nr_copies++] = prog;
	return 0;
}

static int copy_attach(struct tracing *t, struct bpf_program *prog, const struct raw_named *s,
		       struct probe_types *types)
{
	int copy = copy_load(prog, s, types), err, link;

	if (copy < 0)
		return copy;
	err = copy_keep(t, copy);
	if (err)
		return err;
	link = s->probe == PROBE_sdt_event ? bpf_raw_tracepoint_open(s->name, copy) :
	       bpf_link_create(copy, 0, bpf_program__expected_attach_type(prog), NULL);
	return link < 0 ? -errno : link_keep(t, NULL, link);
}

/* Attaches as many as one call accepts; splits on errors. The number of those that are refused. */
static unsigned multi(struct tracing *t, struct bpf_program *prog, const __u32 *spots, unsigned nr,
		      int *why)
{
	unsigned long *addresses = calloc(nr, sizeof(*addresses));
	__u64 *cookies = calloc(nr, sizeof(*cookies));
	int link = -1, err = addresses && cookies ? 0 : -ENOMEM;

	for (unsigned i = 0; !err && i < nr; i++) {
		addresses[i] = raw_asked.list[spots[i]].address;
		cookies[i] = spots[i];
	}
	if (!err) {
		LIBBPF_OPTS(bpf_link_create_opts, opts);

		opts.kprobe_multi.flags = raw_asked.list[*spots].probe == PROBE_fbt_return ?
					  BPF_F_KPROBE_MULTI_RETURN : 0;
		opts.kprobe_multi.cnt = nr;
		opts.kprobe_multi.addrs = addresses;
		opts.kprobe_multi.cookies = cookies;
		link = bpf_link_create(bpf_program__fd(prog), 0, BPF_TRACE_KPROBE_MULTI, &opts);
		err = link < 0 ? -errno : 0;
	}
	free(addresses);
	free(cookies);
	if (link >= 0)
		err = link_keep(t, NULL, link);
	if (!err)
		return 0;
	*why = err;
	if (nr == 1 || err == -ENOMEM || err == -EPERM)
		return nr;
	return multi(t, prog, spots, nr / 2, why) +
	       multi(t, prog, spots + nr / 2, nr - nr / 2, why);
}

static int kprobe(struct tracing *t, struct bpf_program *prog, __u32 spot)
{
	const struct raw_named *s = &raw_asked.list[spot];
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = perf_type("kprobe"), .kprobe_addr = s->address,
		.config = s->probe == PROBE_fbt_return,		/* bit 0 is "retprobe" */
	};
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = spot);
	int perf = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC), err;
	struct bpf_link *link;

	if (perf < 0)
		return -errno;
	link = bpf_program__attach_perf_event_opts(prog, perf, &opts);
	if (link)
		return link_keep(t, link, -1);	/* it closes the event */
	err = -errno;
	close(perf);
	return err;
}

static unsigned cookies_attach(struct tracing *t, struct bpf_program *prog, const __u32 *spots,
			       unsigned nr, int *why)
{
	unsigned refused = 0;

	if (!kernel_lacks(FEATURE_KPROBE_MULTI))
		return multi(t, prog, spots, nr, why);
	for (unsigned i = 0; i < nr; i++) {
		int err = kprobe(t, prog, spots[i]);

		*why = err ?: *why;
		refused += err < 0;
	}
	return refused;
}

static unsigned copies_attach(struct tracing *t, struct bpf_program *prog, const __u32 *spots,
			      unsigned nr, int *why)
{
	struct probe_types *types = probe_types_new();
	unsigned refused = 0;

	for (unsigned i = 0; i < nr; i++) {
		int err = types ? copy_attach(t, prog, &raw_asked.list[spots[i]], types) : -ENOMEM;

		*why = err ?: *why;
		refused += err < 0;
	}
	probe_types_free(types);
	return refused;
}

int raw_attach(struct tracing *t, struct bpf_program *prog, enum source source, struct error *e)
{
	__u32 spots[RAW_MOST];
	unsigned nr = 0, refused;
	int why = 0;

	for (unsigned i = 0; i < raw_asked.nr; i++)
		if (source_of(&raw_asked.list[i]) == source &&
		    copied(&raw_asked.list[i]) == is_copied(prog))
			spots[nr++] = i;
	if (!nr)
		return 0;
	refused = (is_copied(prog) ? copies_attach : cookies_attach)(t, prog, spots, nr, &why);
	if (!refused)
		return 0;
	if (refused == nr || why == -ENOMEM || why == -EMFILE)
		return error_set(e, why, NULL, "the kernel refuses %s%s: %s",
				 raw_name(&raw_asked.list[*spots]),
				 nr > 1 ? text(" and %u more", nr - 1) : "", strerror(-why));
	t->refused += refused;
	return 0;
}

void tracing_raw(const struct tracing *t, char *list, size_t size, bool more)
{
	static const char *const by[] = { "raw tracepoint", "fentry", "kprobe.multi", "kprobe" };
	unsigned nr[4] = {};
	const struct raw_named *first[4] = {};

	for (unsigned i = 0; i < raw_asked.nr; i++) {
		const struct raw_named *s = &raw_asked.list[i];
		unsigned way = s->probe == PROBE_sdt_event ? 0 : copied(s) ? 1 :
			       kernel_lacks(FEATURE_KPROBE_MULTI) ? 3 : 2;

		first[way] = nr[way]++ ? first[way] : s;
	}
	for (unsigned way = 0; way < 4; way++)
		if (nr[way] && size > 1) {
			int used = snprintf(list, size, "%s%s%s by %s", more ? ", " : "",
					    raw_name(first[way]),
					    nr[way] > 1 ? text(" and %u more", nr[way] - 1) : "",
					    by[way]);

			more = true;
			used = used < (int)size ? used : (int)size - 1;
			list += used;
			size -= used;
		}
	if (t->refused)
		snprintf(list, size, "; the kernel refuses %u of them", t->refused);
}
