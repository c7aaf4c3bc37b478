/* SPDX-License-Identifier: GPL-2.0 */
/* Missed events are told with all who want them: every program has an owner. */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

#include "lib/core/hook.h"
#include "lib/read/losses.h"
#include "lib/util/log.h"
#define SUBJECT "losses: "
#include "check.h"

static struct meta meta;

/* "rx-nic drop": points and meters that lack what the program of this pin missed; "": nobody. */
static const char *lacks(const char *pin)
{
	static char names[256];
	struct users by = missed_by(&meta, pin);

	*names = '\0';
	for (unsigned i = 0; i < NR_POINTS; i++)
		if (by.points >> i & 1)
			strcat(strcat(names, *names ? " " : ""), point_names[i]);
	for (unsigned i = 0; i < NR_METERS; i++)
		if (by.meters >> i & 1)
			strcat(strcat(names, *names ? " " : ""), meters[i]->name);
	return names;
}

static unsigned programs;

/* Each program of an object is somebody's; of a meter's own object, that meter's. */
static void owned(const char *of, const void *elf, size_t size)
{
	struct bpf_object *object = bpf_object__open_mem(elf, size, NULL);
	const struct bpf_program *p = NULL;

	must(object, of ?: "shared", "its object cannot be opened");
	while (object && (p = bpf_object__next_program(object, (struct bpf_program *)p))) {
		const char *name = bpf_program__name(p), *by = lacks(name);

		must(of ? !strcmp(by, of) : !!*by, text("%s: %s", of ?: "shared", name), by);
		programs++;
	}
	bpf_object__close(object);
}

int main(void)
{
	const void *elf;
	size_t size = 0;

	log_init(false);
	meta.set[0] = (struct users){ .meters = ~0ull, .points = ~0u };
	meta.set[2] = (struct users){ .meters = 1ull << METER_qdisc };
	same_text("what a driver delivers", lacks("netif_receive_skb_list_entry"),
		  "rx-nic gro skblife");
	same_text("what a driver returned", lacks("net_dev_xmit"),
		  "tx-nic qdisc bql txlat skblife");
	same_text("a set has what it serves", lacks("net_dev_xmit-2"), "qdisc");
	meta.takes_all = true;
	same_text("what a driver returned that takes all", lacks("net_dev_xmit"), "qdisc skblife");
	meta.takes_all = false;
	same_text("another word for skblife", lacks("life_copy"), "skblife");
	same_text("a copy is its first's", lacks("kfree_skb_again"), "qdisc txlat drop skblife");
	same_text("a link of a driver's function", lacks("driver-3"), "driver");
	same_text("a longer word is another", lacks("dropped_x"), "");
	same_text("nobody's", lacks("frobnicate"), "");
	same_text("a copy at consume_skb", lacks("consume_skb_again"), "qdisc txlat skblife");
	meta.frees_in_tasks = true;
	same_text("who frees in tasks needs none", lacks("consume_skb_again"), "qdisc skblife");
	same_text("but the first", lacks("consume_skb"), "qdisc txlat skblife");
	meta.frees_in_tasks = false;
	meta.set[0] = (struct users){ .meters = 1ull << METER_drop };
	same_text("who is not attached lacks nothing", lacks("kfree_skb"), "drop");
	meta.set[0] = (struct users){ .meters = ~0ull, .points = ~0u };
	for (unsigned i = 0; i < NR_METERS; i++) {
		const struct meter *m = meters[i];
		elf = m->type == EVENT_METER && m->events.elf ? m->events.elf(&size) : NULL;
		if (elf)
			owned(m->name, elf, size);
	}
	elf = events_elf(&size);
	owned(NULL, elf, size);
	check(programs > 40, "there are programs", text("%u", programs));
	return failed > 0;
}
