/* SPDX-License-Identifier: GPL-2.0 */
/* One BPF object: opened, sized to the interface, loaded, attached and pinned. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/attach/begin.h"
#include "lib/attach/object.h"
#include "lib/core/meter.h"
#include "lib/kernel/kernel.h"
#include "lib/util/log.h"

#define MAX_STACKS 1024		/* different ones; their map has 256 bytes each */

const char *pin_path(const struct site *site, const char *name)
{
	return text("%s/%s", site->pins, name);
}

/* Maps that several objects share, or that show reads, are pinned under their name. */
static bool shared(const char *name)
{
	static const char *const names[] = {
		BEGUN_MAP, "lost", "napi_queue", "drop_stack", "drop_reasons", "qdisc_places",
		"driver_times", "driver_functions",
	};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return meter_find(name);
}

/* The maps of packet meters are in most objects: where none of these is on they need no room. */
static bool idle(const struct site *site, const struct meter *m)
{
	for (int id = 0; id < NR_METERS; id++)
		if (site->config.on >> id & 1 && meter_rides(meters[id]))
			return false;
	return meter_rides(m);
}

static int map_prepare(const struct site *site, struct bpf_map *map)
{
	const char *name = bpf_map__name(map);
	const struct meter *m = meter_find(name);
	int err = 0;

	if (!strcmp(name, ".rodata.config"))
		err = bpf_map__set_initial_value(map, &site->config, sizeof(site->config));
	if (!strcmp(name, "flight") || !strcmp(name, "elsewhere") || !strcmp(name, "overflow"))
		err = bpf_map__set_max_entries(map, 1u << (32 - site->config.flight_shift));
	if (!strcmp(name, "drop_stack") && site->config.stacks)
		err = bpf_map__set_max_entries(map, MAX_STACKS);
	if (!strcmp(name, "waiting"))
		err = bpf_map__set_max_entries(map, 1u << (32 - site->config.waiting_shift));
	if (strstr(name, "_scratch"))
		err = bpf_map__set_max_entries(map, site->config.scratch);
	if (m && !(m->by & BY_KEY))
		err = bpf_map__set_max_entries(map, meter_rows(m, site->config.rows) *
						    meter_lanes(m));
	if (m && m->keys_per_queue)
		err = bpf_map__set_max_entries(map, m->keys_per_queue * site->config.rows);
	if (m && idle(site, m))
		err = bpf_map__set_max_entries(map, 1);
	if (!err && shared(name))
		err = bpf_map__set_pin_path(map, pin_path(site, strcmp(name, BEGUN_MAP) ? name :
								BEGUN_PIN));
	return err;
}

/* Is this an instruction that loads `value`? It takes two. */
static bool loads(const struct bpf_insn *in, __u64 value)
{
	return in[0].code == (BPF_LD | BPF_IMM | BPF_DW) && !in[0].src_reg &&
	       in[0].imm == (__s32)value && in[1].imm == (__s32)(value >> 32);
}

/* Writes the address of the device into a program: see DEV_UNKNOWN. */
static int dev_tell(const struct site *site, struct bpf_program *prog)
{
	size_t nr = bpf_program__insn_cnt(prog), size = nr * sizeof(struct bpf_insn);
	struct bpf_insn *insns = malloc(size);
	int err;

	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(prog), size);
	for (size_t i = 0; i + 1 < nr; i++) {
		struct bpf_insn *in = insns + i;

		if (!loads(in, DEV_UNKNOWN) && !(site->config.stays && loads(in, DEV_OF_PACKET)))
			continue;
		in[0].imm = site->config.dev;
		in[1].imm = site->config.dev >> 32;
	}
	err = bpf_program__set_insns(prog, insns, nr);
	free(insns);
	return err;
}

struct bpf_object *object_open(const struct site *site, const void *(*elf)(size_t *))
{
	size_t size;
	const void *bytes = elf(&size);
	struct bpf_object *obj = bpf_object__open_mem(bytes, size, NULL);
	struct bpf_program *prog;
	struct bpf_map *map;
	int err = 0;

	if (!obj) {
		complain(-errno, NULL, "cannot open our own BPF object: %s", log_last());
		return NULL;
	}
	bpf_object__for_each_map(map, obj)
		err = err ?: map_prepare(site, map);
	bpf_object__for_each_program(prog, obj)
		if (!err && site->config.dev)
			err = dev_tell(site, prog);
	if (err)
		complain(err, NULL, "cannot prepare our own BPF object: %s", strerror(-err));
	if (err || kernel_choose(obj)) {
		bpf_object__close(obj);
		return NULL;
	}
	return obj;
}

static int link_pin(const struct site *site, struct bpf_program *prog)
{
	const char *name = bpf_program__name(prog);
	struct bpf_link *link = bpf_program__attach(prog);
	int err, fd;

	if (!link)
		return complain(-errno, NULL, "cannot attach to %s: %s",
				bpf_program__section_name(prog), strerror(errno));
	err = bpf_link__pin(link, pin_path(site, name));
	if (err) {
		complain(err, NULL, "cannot pin the link %s: %s", name, strerror(-err));
		bpf_link__destroy(link);
		return err;
	}
	/* The pin holds it now, alone: who lives on and unpins it expects that it ends. */
	fd = bpf_link__fd(link);
	bpf_link__disconnect(link);
	bpf_link__destroy(link);
	close(fd);
	return 0;
}

/* What the driver told the kernel of its NAPIs need not be learned, nor ranked. */
static void napis_tell(const struct site *site, const struct bpf_object *obj)
{
	const struct queues *q = &site->queues;
	const struct bpf_map *map = bpf_object__find_map_by_name(obj, "napi_queue");

	for (__u32 queue = 0; map && queue < q->nr_rx; queue++)
		if (q->rx_napi[queue])
			bpf_map_update_elem(bpf_map__fd(map), &q->rx_napi[queue], &queue,
					    BPF_NOEXIST);
	/* those that receive, too, are there by now */
	for (__u32 queue = 0; map && queue < q->nr_tx; queue++)
		if (q->tx_napi[queue])
			bpf_map_update_elem(bpf_map__fd(map), &q->tx_napi[queue],
					    &(__u32){ queue | NAPI_TX }, BPF_NOEXIST);
}

int object_load(const struct site *site, struct bpf_object *obj)
{
	int err = bpf_object__load(obj);

	if (err == -ENOMEM || err == -E2BIG)
		return complain(err, "fewer meters: -m METER", "the kernel has no memory for the "
				"maps of %u queues on %d CPUs", site->config.rows - 1,
				libbpf_num_possible_cpus());
	if (err)
		return complain(err, NULL, "the kernel does not load our program: %s", log_last());
	napis_tell(site, obj);
	return 0;
}

int object_attach(const struct site *site, struct bpf_object *obj)
{
	struct bpf_program *prog;
	int err = 0;

	bpf_object__for_each_program(prog, obj)
		if (!err && bpf_program__autoload(prog))
			err = link_pin(site, prog);
	bpf_object__for_each_program(prog, obj)
		if (err && bpf_program__autoload(prog))
			unlink(pin_path(site, bpf_program__name(prog)));
	return err;
}

int attach_links(const struct site *site, struct bpf_object *obj)
{
	return object_load(site, obj) ?: object_attach(site, obj);
}
