/* SPDX-License-Identifier: GPL-2.0 */
/* The meter lookup: calls of the C library that look up names, by probes in its files. */
#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/lookup/lookup.h"
#include "lib/attach/attach.h"
#include "lib/attach/object.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"
#include "lib/kernel/feature.h"
#include "lib/kernel/uretprobe.h"
#include "lib/trace/libraries.h"
#include "lib/trace/perf_link.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "lookup.skel.h"

static const struct metric metrics[] = {
	COUNTER(struct lookup, calls, .name = "calls", .unit = "calls",
		.help = "Calls that returned this result; of \"left\", that never returned."),
	HISTOGRAM(struct lookup, latency, .name = "latency", .unit = "seconds", .scale = 1e-9,
		  .help = "How long they took: files, caches, and queries that were repeated."),
	{}
};

static const char *const results[NR_LOOKUP_RESULTS] = {
	[LOOKUP_ANY] = "-",
	[LOOKUP_OK] = "ok",
	[LOOKUP_LEFT] = "left",
#define E(name, nr) [LOOKUP_##name] = "EAI_" #name,
	LOOKUP_ERRORS(E)
#undef E
};

enum label { PROCESS, RESULT };
static const char *const labels[] = { "process", "result", NULL };

static void key_words(const void *of, unsigned nr, char *out, size_t size)
{
	const struct lookup_key *key = of;
	const char *result = key->result < NR_LOOKUP_RESULTS ? results[key->result] : NULL;

	if (nr == RESULT)
		snprintf(out, size, "%s", result ?: "other");
	else if (key->result == LOOKUP_ANY)
		snprintf(out, size, REMOTE_OTHERS);
	else
		comm_text(key->comm, out, size);
}

/* "libc.so.6", "libc-2.31.so"; of musl "libc.so", "ld-musl-x86_64.so.1". */
static bool is_libc(const char *name)
{
	return !strncmp(name, "libc.so", 7) || !strncmp(name, "ld-musl-", 8) ||
	       !strncmp(name, "libc.musl-", 10) ||
	       (!strncmp(name, "libc-", 5) && isdigit((unsigned char)name[5]));
}

static const char *const functions[NR_LOOKUP_FUNCTIONS] = {
#define F(name, result, error) [LOOKUP_##name] = #name,
	LOOKUP_FUNCTIONS(F)
#undef F
};

#define VERSIONS 4		/* of a function in one file */

struct probing {
	const struct site *site;
	int begins, ends;	/* the programs */
	unsigned nr;		/* links */
	bool refused;		/* by the kernel, for the file at hand */
};

/* Of the last attach, for remark(). */
static struct {
	unsigned files, unopened, foreign, denied, refused, left_out;
	char first[256];
} done;

static int probe(struct probing *p, const struct library *l, uint64_t offset, bool ret,
		 __u64 cookie)
{
	const char *path = text("/proc/self/fd/%d", l->fd);
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = perf_type("uprobe"),
		.config = ret,		/* bit 0 is "retprobe"; Linux 4.17 */
		.uprobe_path = (uintptr_t)path,
		.probe_offset = offset,
	};
	int link = perf_link(ret ? p->ends : p->begins, &attr, cookie), err;

	if (link < 0) {
		p->refused = true;
		return error_set(p->site->error, link, NULL,
				 "cannot put a probe into %s: %s", l->path, strerror(-link));
	}
	err = bpf_obj_pin(link, pin_path(p->site, text("lookup-%u", p->nr))) ? -errno : 0;
	close(link);
	if (err)
		return error_set(p->site->error, err, NULL, "cannot pin a probe in %s: %s",
				 l->path, strerror(-err));
	p->nr++;
	return 0;
}

/* From the last one down, so that those left by an interrupted removal are still without a gap. */
static void unprobe(struct probing *p, unsigned left)
{
	while (p->nr > left)
		unlink(pin_path(p->site, text("lookup-%u", --p->nr)));
}

/*
 * Where a call ends is attached first: none is seen to begin whose end is not. A file that cannot
 * be probed is left out: it may be anybody's, or lie where the kernel probes nothing.
 */
static int library_probe(struct probing *p, const struct library *l, unsigned file)
{
	unsigned before = p->nr;
	int err = 0;

	p->refused = false;

	for (unsigned f = 0; !err && f < NR_LOOKUP_FUNCTIONS; f++) {
		uint64_t at[VERSIONS];
		int nr = library_function(l, functions[f], at, VERSIONS);

		if (nr < 0) {
			done.foreign++;
			return 0;
		}
		for (int i = 0; !err && i < nr; i++)
			err = probe(p, l, at[i], true, LOOKUP_FILE(file) | f) ?:
			      probe(p, l, at[i], false, LOOKUP_FILE(file) | f);
	}
	if (p->refused) {
		unprobe(p, before);
		done.refused++;
		return 0;
	}
	if (!done.files++)
		snprintf(done.first, sizeof(done.first), "%s", l->path);
	return err;
}

static int probes(struct probing *p, const struct libraries *all)
{
	int err = 0;

	for (unsigned i = 0; !err && i < all->nr; i++) {
		if (all->list[i].fd < 0)
			done.unopened++;
		else
			err = library_probe(p, &all->list[i], i);
	}
	if (!err && !p->nr && done.refused)	/* the last refusal has said why */
		err = -EINVAL;
	else if (!err && !p->nr)
		err = error_set(p->site->error, -ENOENT, NULL,
				"no process maps a C library that could be read");
	if (err)
		unprobe(p, 0);
	return err;
}

static int program(const struct bpf_object *obj, const char *name)
{
	return bpf_program__fd(bpf_object__find_program_by_name(obj, name));
}

static int attach(const struct site *site, struct bpf_object *obj)
{
	struct probing p = { .site = site };
	struct libraries all;
	int err = object_load(site, obj);

	if (err)
		return err;
	memset(&done, 0, sizeof(done));
	p.begins = program(obj, "lookup_begins");
	p.ends = program(obj, "lookup_ends");
	err = remotes_reserve(obj, "lookup", &(struct lookup_key){}, 1);
	if (err)
		return err;
	err = libraries_find(&all, site->config.netns, is_libc);
	done.denied = all.denied;
	done.left_out = all.left_out;
	err = err ?: probes(&p, &all);
	libraries_free(&all);
	return err;
}

/* Which files: what maps another one later is not seen. */
static const char *remark(const struct site *site)
{
	const char *said = text("follows %s", done.first);

	(void)site;
	if (done.files > 1)
		said = text("%s and %u further file%s of a C library", said, done.files - 1,
			    done.files == 2 ? "" : "s");
	if (done.unopened)
		said = text("%s; %u could not be opened", said, done.unopened);
	if (done.refused)
		said = text("%s; the kernel puts no probes into %u", said, done.refused);
	if (done.left_out)
		said = text("%s; %u more are too many", said, done.left_out);
	if (done.denied)
		said = text("%s; %u process%s could not be asked for theirs", said, done.denied,
			    done.denied == 1 ? "" : "es");
	if (done.foreign)
		said = text("%s; %u of other machines or of 32 bits are not followed", said,
			    done.foreign);
	return said;
}

static const char *cannot(void)
{
#if !defined(__x86_64__) && !defined(__aarch64__)
	return "where the registers of a call are is only known of x86-64 and arm64";
#endif
	return kernel_lacks(FEATURE_UPROBE) ?: uretprobe_harms();
}

const struct meter meter_lookup = {
	.name = "lookup",
	.help = "calls that look up names, such as getaddrinfo(): how long, which fail",
	.type = EVENT_METER,
	.host = true,
	.by = BY_KEY,
	.row_size = sizeof(struct lookup),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct lookup_key),
		.labels = labels,
		.text = key_words,
	},
	.events = {
		.elf = lookup_bpf__elf_bytes,
		.attach = attach,
	},
	.cannot = cannot,
	.remark = remark,
	.on_request = "it puts probes into the C library of all processes: 5 us per call that "
		      "looks up a name",
};
