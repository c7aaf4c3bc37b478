/* SPDX-License-Identifier: GPL-2.0 */
/* The meter driver: how often a driver's functions are called, and how long selected ones take. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/driver/driver.h"
#include "lib/attach/attach.h"
#include "lib/attach/pinned.h"
#include "lib/core/hook.h"
#include "lib/read/snapshot.h"
#include "lib/trace/probes.h"
#include "lib/util/error.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"
#include "driver.skel.h"

static const struct metric metrics[] = {
	COUNTER(struct driver_row, calls.calls, .name = "calls", .unit = "calls",
		.per_packet = true,
		.help = "Calls of this function, or hits of this tracepoint."),
	COUNTER(struct driver_row, calls.lost, .name = "lost", .unit = "calls", .rare = true,
		.help = "Timed calls whose return was not seen."),
	HISTOGRAM(struct driver_row, times.time, .name = "time", .unit = "seconds",
		  .scale = 1e-9, .help = "Time in this function, with interrupts and waits."),
	{}
};

enum label { FUNCTION, KIND, DOES, MODULE };
static const char *const labels[] = { "function", "kind", "does", "module", NULL };

/* Keys in this process are indexes of this list, the same in all snapshots. */
static struct known {
	struct driver_function f;
	bool gone;		/* its module has been unloaded */
} *known;
static unsigned nr_known;

static const struct known *known_at(const void *key)
{
	__u32 at = *(const __u32 *)key;

	return at < nr_known ? &known[at] : NULL;
}

static void key_text(const void *key, unsigned nr, char *out, size_t size)
{
	const struct known *k = known_at(key);
	const struct driver_function *f = k ? &k->f : NULL;

	if (!f)
		snprintf(out, size, "?");
	else if (nr == FUNCTION)
		snprintf(out, size, "%s", f->name);
	else if (nr == KIND)
		snprintf(out, size, "%s", f->tracepoint ? "tracepoint" : "function");
	else if (nr == DOES)
		snprintf(out, size, "%s", does_text[f->does < NR_DOES ? f->does : DOES_OTHER]);
	else
		snprintf(out, size, "%s", *f->module ? f->module : "vmlinux");
}

/* Changes when the module is loaded again; 0: it is not loaded, or there is no module. */
static __u64 module_inode(const char *module)
{
	struct stat st;

	return *module && !stat(text("/sys/module/%s", module), &st) ? st.st_ino : 0;
}

/* Its index, or -1. */
static int known_place(const struct driver_function *f)
{
	struct known *list;

	for (unsigned i = 0; i < nr_known; i++)
		if (!memcmp(&known[i].f, f, sizeof(*f)))
			return i;
	list = grow(known, nr_known, sizeof(*list));
	if (!list)
		return -1;
	known = list;
	known[nr_known] = (struct known){ .f = *f };
	return nr_known++;
}

const char *driver_row_gone(const void *key)
{
	const struct known *k = known_at(key);

	return k && k->gone ? k->f.module : NULL;
}

static int times_add(uint64_t *to, int fd, __u32 row)
{
	int cpus = libbpf_num_possible_cpus();
	unsigned words = sizeof(struct driver_times) / 8;
	uint64_t *percpu = calloc(cpus, words * 8);
	int err = !percpu ? -ENOMEM : bpf_map_lookup_elem(fd, &row, percpu);

	for (unsigned i = 0; !err && i < cpus * words; i++)
		to[i % words] += percpu[i];
	free(percpu);
	return err;
}

/* Turns row numbers into indexes of known functions and adds their times. */
static int rows_settle(struct table *t, int functions, int times)
{
	__u32 *keys = (void *)t->keys;
	int err = 0;

	for (unsigned row = 0; !err && row < t->rows; row++) {
		uint64_t *words = t->cells + (size_t)row * t->words;
		struct driver_function f;
		int place;

		err = bpf_map_lookup_elem(functions, &keys[row], &f);
		if (!err && f.time)
			err = times_add(words + WORD(struct driver_row, times), times, f.time - 1);
		place = err ? -1 : known_place(&f);
		if (!err && place < 0)
			err = -ENOMEM;
		if (!err) {
			known[place].gone = f.inode && module_inode(f.module) != f.inode;
			keys[row] = place;
		}
	}
	return err;
}

static int fixup(const char *pins, struct table *t)
{
	struct pinned_map functions = pin_read(text("%s/driver_functions", pins));
	struct pinned_map times = pin_read(text("%s/driver_times", pins));
	int err = functions.fd < 0 || times.fd < 0 ? -errno :
		  rows_settle(t, functions.fd, times.fd);

	pin_close(&functions);
	pin_close(&times);
	return err;
}

/* Set by absent(), used by attach(). */
static struct probes chosen;

static const char *absent(const struct site *site)
{
	struct probes_wanted want = {
		.driver = site->driver,
		.module = site->iface.driver,
		.functions = site->request->functions,
		.timed = site->request->timed,
		.max = site->request->max_functions,
		.cannot = probes_cannot(),
	};
	struct error e = {};

	if (want.cannot && !site->driver->tracepoints)
		return want.cannot;
	probes_free(&chosen);
	return probes_choose(&chosen, &want, &e) ? text("%s", e.what) : NULL;
}

static int maps_size(struct bpf_object *obj)
{
	static const char *const by_row[] = { "driver", "driver_functions" };
	unsigned times = chosen.times ?: 1;
	int err = 0;

	for (int i = 0; i < 2; i++)
		err = err ?: bpf_map__set_max_entries(bpf_object__find_map_by_name(obj, by_row[i]),
						      chosen.rows);
	err = err ?: bpf_map__set_max_entries(bpf_object__find_map_by_name(obj, "driver_times"),
					      times);
	if (chosen.times)
		err = err ?: bpf_map__set_max_entries(
			bpf_object__find_map_by_name(obj, "driver_frames"), DRIVER_TASKS);
	return err;
}

static int functions_store(struct bpf_object *obj)
{
	int fd = bpf_object__find_map_fd_by_name(obj, "driver_functions"), err = 0;

	for (unsigned i = 0; !err && i < chosen.nr; i++) {
		const struct probe *p = &chosen.list[i];
		struct driver_function f = {};

		strcpy(f.name, p->name);
		strcpy(f.module, p->module);
		f.inode = module_inode(p->module);
		f.does = p->does;
		f.tracepoint = p->tracepoint;
		f.time = p->timed ? p->time + 1 : 0;
		err = bpf_map_update_elem(fd, &p->row, &f, BPF_ANY);
	}
	return err;
}

struct pinning {
	const struct site *site;
	unsigned nr;
};

static int link_keep(int link, void *arg)
{
	struct pinning *p = arg;
	int err = bpf_obj_pin(link, pin_path(p->site, text("driver-%u", p->nr++))) ? -errno : 0;

	close(link);
	return err;
}

static struct probe_program program_of(struct bpf_object *obj, const char *name)
{
	const struct bpf_program *prog = bpf_object__find_program_by_name(obj, name);

	return (struct probe_program){
		.name = name, .insns = bpf_program__insns(prog), .nr = bpf_program__insn_cnt(prog),
	};
}

static int attach(const struct site *site, struct bpf_object *obj)
{
	struct pinning pinning = { .site = site };
	struct probe_program programs[NR_PROBE_PROGRAMS];
	char plan[200];
	int err;

	probes_plan(&chosen, plan, sizeof(plan));
	if (site->request->tell)
		site->request->tell(text("driver: %s", plan));
	err = maps_size(obj) ?: object_load(site, obj) ?: functions_store(obj);
	if (err)
		return err;
	programs[PROBE_ENTER] = program_of(obj, "driver_enter");
	programs[PROBE_BEGIN] = program_of(obj, "driver_begin");
	programs[PROBE_END] = program_of(obj, "driver_end");
	err = probes_attach(&chosen, programs, link_keep, &pinning, site->error);
	while (err && pinning.nr)
		unlink(pin_path(site, text("driver-%u", --pinning.nr)));
	if (err)
		error_set(site->error, err, NULL,
			  "cannot pin the links to the driver's functions: %s", strerror(-err));
	return err;
}

static const char *first_refused(void)
{
	unsigned i = 0;

	while (i < chosen.nr && !chosen.list[i].refused)
		i++;
	return i < chosen.nr ? chosen.list[i].name : "";
}

/* How many functions and tracepoints, for which devices, and how many are missing. */
static const char *remark(const struct site *site)
{
	unsigned devices = driver_devices(site->iface.driver);
	const char *said = text("%u function%s", chosen.functions,
				chosen.functions == 1 ? "" : "s");

	if (chosen.tracepoints)
		said = text("%s and %u tracepoint%s", said, chosen.tracepoints,
			    chosen.tracepoints == 1 ? "" : "s");
	if (devices != 1)
		said = text(devices ? "%s, for all %u devices of %s together" :
			    "%s, for all interfaces%.0u of %s together", said, devices,
			    site->iface.driver);
	if (chosen.missing)
		said = text("%s; %u of the %u known are not in this kernel, inlined, or in a "
			    "module that is not loaded", said, chosen.missing, chosen.known);
	if (chosen.refused)
		said = text("%s; the kernel refuses %u, such as %s", said, chosen.refused,
			    first_refused());
	return said;
}

static const struct map_plan maps[] = {
	{ "driver_times", .pinned = true }, { "driver_functions", .pinned = true }, {}
};

const struct meter meter_driver = {
	.name = "driver",
	.help = "calls of the driver's functions, and the time in selected ones",
	.type = EVENT_METER,
	.by = BY_KEY,
	.point = RX_NIC,
	.row_size = sizeof(struct driver_row),
	.metrics = metrics,
	.key = {
		.size = sizeof(__u32),
		.labels = labels,
		.text = key_text,
	},
	.events = {
		.elf = driver_bpf__elf_bytes,
		.attach = attach,
		.maps = maps,
	},
	.fixup = fixup,
	.on_request = "it runs at each call of the driver's functions, for all its interfaces: "
		      "0.03 to 0.15 us per call",
	.cannot = probes_cannot,
	.absent = absent,
	.remark = remark,
};
