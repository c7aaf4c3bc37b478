/* SPDX-License-Identifier: GPL-2.0 */
/* Missed events of our programs are attributed: every program has an owner. */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

#include "lib/core/hook.h"
#include "lib/read/losses.h"
#include "lib/util/log.h"
#define SUBJECT "losses: "
#include "check.h"

static struct snapshot s;

/* "rx-nic", a point; "drop", a meter; "?". */
static const char *owner(const char *program)
{
	const uint64_t *by = missed_by(&s, program);

	for (unsigned i = 0; i < NR_POINTS; i++)
		if (by == &s.missed_point[i])
			return point_names[i];
	for (unsigned i = 0; i < NR_METERS; i++)
		if (by == &s.missed_meter[i])
			return meters[i]->name;
	return "?";
}

static unsigned programs;

/* `points`: a hook, whose programs serve points; otherwise a meter's programs. */
static void owners(const char *of, const void *elf, size_t size, unsigned points)
{
	struct bpf_object *object = bpf_object__open_mem(elf, size, NULL);
	const struct bpf_program *p = NULL;

	must(object, of, "its object cannot be opened");
	while (object && (p = bpf_object__next_program(object, (struct bpf_program *)p))) {
		const char *name = bpf_program__name(p), *by = owner(name);
		bool good = !points && !strcmp(by, of);

		/* the kernel counts no misses of XDP and tc: they nest */
		if (bpf_program__type(p) == BPF_PROG_TYPE_XDP ||
		    bpf_program__type(p) == BPF_PROG_TYPE_SCHED_CLS)
			continue;
		for (unsigned i = 0; i < NR_POINTS; i++)
			good |= points >> i & 1 && !strcmp(by, point_names[i]);
		programs++;
		must(good, text("%s: %s", of, name), by);
	}
	bpf_object__close(object);
}

int main(void)
{
	log_init(false);
	same_text("what a driver hands up", owner("rx_list"), "rx-nic");
	same_text("what a driver returned", owner("tx_return"), "tx-nic");
	same_text("another word for skblife", owner("life_freed"), "skblife");
	same_text("a copy is its first's", owner("drop_freed_again"), "drop");
	same_text("a link of a driver's function", owner("driver-3"), "driver");
	same_text("a longer word is another", owner("dropped_x"), "?");
	same_text("nobody's", owner("frobnicate"), "?");
	for (unsigned i = 0; i < NR_METERS; i++) {
		size_t size = 0;
		const struct meter *m = meters[i];
		const void *elf = m->type == EVENT_METER ? m->events.elf(&size) : NULL;

		if (elf)
			owners(meters[i]->name, elf, size, 0);
	}
	for (const struct hook *const *t = hooks; *t; t++) {
		size_t size = 0;
		const void *elf = (*t)->elf ? (*t)->elf(&size) : NULL;

		if (elf)
			owners((*t)->name, elf, size, (*t)->points);
	}
	check(programs > 50, "there are programs", text("%u", programs));
	return failed > 0;
}
