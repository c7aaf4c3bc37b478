/* SPDX-License-Identifier: GPL-2.0 */
/* The meter drop: why, where and by whom packets were dropped; false drops are removed. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/drop/classify.h"
#include "bpf/drop/drop.h"
#include "lib/kernel/reasons.h"
#include "lib/attach/attach.h"
#include "lib/attach/pinned.h"
#include "lib/core/hook.h"
#include "lib/kernel/btf.h"
#include "lib/kernel/symbol.h"
#include "lib/proc/cpus.h"
#include "lib/read/keyed.h"
#include "lib/read/rows.h"
#include "lib/read/snapshot.h"
#include "lib/util/grow.h"
#include "lib/util/list.h"
#include "lib/util/log.h"

static const struct metric metrics[] = {
	COUNTER(struct drop, packets, .name = "packets", .unit = "packets",
		.help = "Packets dropped; a buffer counts as all packets in it."),
	COUNTER(struct drop, buffers, .name = "buffers", .unit = "buffers", .rare = true,
		.like_first = true,
		.help = "Buffers dropped: the unit of tc's and the kernel's counters."),
	COUNTER(struct drop, bytes, .name = "bytes", .unit = "bytes",
		.help = "Bytes in these buffers."),
	{}
};

enum label { REASON, LOCATION, WHO, DIRECTION, QUEUE };
static const char *const labels[] = { "reason", "location", "who", "direction", "queue", NULL };

static void key_text(const void *of, unsigned nr, char *out, size_t size)
{
	static const char *const directions[] = {
		[DROP_RX] = "rx", [DROP_TX] = "tx", [DROP_UNSURE] = "unsure",
	};
	ONE_EACH(directions, NR_DROP_DIRECTIONS);
	const struct drop_key *key = of;

	switch (nr) {
	case REASON:
		snprintf(out, size, "%s", drop_why(key));
		break;
	case LOCATION:
		symbol_text(key->location, out, size);
		break;
	case WHO:
		snprintf(out, size, "%s", drop_who(key));
		break;
	case DIRECTION:
		snprintf(out, size, "%s", directions[key->direction % 3]);
		break;
	default:
		snprintf(out, size, key->queue == DROP_QUEUE_UNKNOWN ? "unknown" : "%u",
			 key->queue);
	}
}

static bool is_benign(const void *key)
{
	return drop_is_benign(key);
}

/* Keys in this process have the index of their stack here, the same in all snapshots. */
static struct stacks {
	struct stack { uint64_t ip[DROP_STACK_DEPTH]; } *list;
	int nr;
} stacks;

static int stack_place(const struct stack *stack)
{
	void *list;

	for (int i = 0; i < stacks.nr; i++)
		if (!memcmp(&stacks.list[i], stack, sizeof(*stack)))
			return i;
	list = grow(stacks.list, stacks.nr, sizeof(*stack));
	if (!list)
		return DROP_NO_STACK;
	stacks.list = list;
	stacks.list[stacks.nr] = *stack;
	return stacks.nr++;
}

/* Frames of the tracing itself, which are left out. */
static bool is_ours(uint64_t ip)
{
	const char *symbol = symbol_at(ip);

	return symbol && (!strncmp(symbol, "bpf_", 4) || !strncmp(symbol, "__bpf_", 6) ||
			  !strncmp(symbol, "__traceiter_", 12));
}

static bool stack_line(const void *of, unsigned nr, char *out, size_t size)
{
	const struct drop_key *key = of;
	unsigned from = 0;

	if (key->stack < 0 || key->stack >= stacks.nr)
		return false;
	while (from < DROP_STACK_DEPTH && is_ours(stacks.list[key->stack].ip[from]))
		from++;
	nr += from;
	if (nr >= DROP_STACK_DEPTH || !stacks.list[key->stack].ip[nr])
		return false;
	symbol_text(stacks.list[key->stack].ip[nr], out, size);
	return true;
}

/* The row of this key among the first `nr`; `nr`: not found. */
static unsigned row_of(const struct drop_key *keys, unsigned nr, const struct drop_key *key)
{
	unsigned row = 0;

	while (row < nr && memcmp(&keys[row], key, sizeof(*key)))
		row++;
	return row;
}

/* Reasons without a name stay empty. */
static int reasons_store(const struct site *site, struct bpf_object *obj)
{
	int fd = bpf_object__find_map_fd_by_name(obj, "drop_reasons"), err = 0;

	(void)site;
	for (__u32 reason = 0; !err && reason < DROP_REASONS; reason++) {
		const char *name = drop_reason_core(reason);
		struct drop_reason stored = {};

		if (!name)
			continue;
		snprintf(stored.name, sizeof(stored.name), "%s", name);
		err = bpf_map_update_elem(fd, &reason, &stored, BPF_ANY);
	}
	return err;
}

/* Once is enough: the names do not change while a kernel runs. */
static void reasons_learn(const char *pins)
{
	struct drop_reason stored[DROP_REASONS];
	__u32 keys[DROP_REASONS], n = DROP_REASONS, next;
	static bool learned;
	struct pinned_map reasons;

	if (learned)
		return;
	learned = true;
	reasons = pin_read(text("%s/drop_reasons", pins));
	if (reasons.fd < 0)
		return;
	if (bpf_map_lookup_batch(reasons.fd, NULL, &next, keys, stored, &n, NULL) &&
	    errno != ENOENT)
		n = 0;
	for (__u32 i = 0; i < n; i++)
		if (*stored[i].name)
			drop_reason_know(keys[i], stored[i].name);
	pin_close(&reasons);
}

/* Copies a row to a new one, or adds it to an existing one. */
static void row_join(struct table *t, unsigned to, unsigned from, bool new)
{
	uint64_t *sum = t->cells + (size_t)to * t->words;
	const uint64_t *more = t->cells + (size_t)from * t->words;

	for (unsigned i = 0; i < t->words; i++)
		sum[i] = new ? more[i] : i < WORD(struct drop, second) ? sum[i] + more[i] :
			 moments_later(sum[i], more[i]);
}

static void buffers_count(struct table *t, unsigned row)
{
	struct drop *d = (void *)(t->cells + (size_t)row * t->words);

	d->buffers = d->packets - d->more;
}

/* Adds the rows of an entry of drop_near to the table. */
static int near_add(struct table *t, const struct drop_near *near)
{
	int err = table_room(&meter_drop, t, (size_t)t->rows + DROP_NEAR) ? 0 : -ENOMEM;

	for (int i = 0; !err && i < DROP_NEAR; i++) {
		const struct drop_near_row *r = &near->at[i];
		__u64 words[DROP_KEY_WORDS];

		memcpy(words, &r->key, sizeof(words));
		if (!r->row.packets || r->check != near_check(words))
			continue;
		memcpy(t->keys + t->rows * sizeof(r->key), words, sizeof(words));
		memcpy(row_words(t, t->rows++, 0), &r->row, sizeof(r->row));
	}
	return err;
}

/* Adds the rows of drop_near to those of the hash. */
static int near_read(const char *pins, struct table *t)
{
	struct pinned_map map = pin_read(text("%s/drop_near", pins));
	__u32 keys[VALUES_AT_ONCE / sizeof(struct drop_near)], next;
	struct drop_near *near = values_room(VALUES_AT_ONCE);
	int err = map.fd < 0 && errno != ENOENT ? -errno : near ? 0 : -ENOMEM;
	bool more = map.fd >= 0;

	for (bool begun = false; !err && more; begun = true) {
		__u32 n = sizeof(keys) / sizeof(*keys);

		more = !bpf_map_lookup_batch(map.fd, begun ? &next : NULL, &next, keys, near, &n,
					     NULL);
		if (!more && errno != ENOENT)
			err = -errno;
		for (__u32 i = 0; !err && i < n; i++)
			err = near_add(t, &near[i]);
	}
	pin_close(&map);
	return err;
}

static int fixup(const char *pins, struct table *t)
{
	unsigned kept = 0, of_hash = t->rows;
	int err = near_read(pins, t);
	struct pinned_map stacks = pin_read(text("%s/drop_stack", pins));
	struct drop_key *keys = (void *)t->keys;
	bool changed = false;

	if (t->rows)
		reasons_learn(pins);
	for (unsigned row = 0; row < t->rows; row++) {
		struct drop_key key = keys[row];
		__u32 id = key.stack;
		struct stack stack;
		unsigned to = kept;

		if (drop_is_false(&key))
			continue;
		if (key.whom && !drop_is_for_nobody(&key))
			key.whom = DROP_FOR_ANY;
		if (key.direction == DROP_TX && drop_is_received(&key))
			key.direction = DROP_RX;
		if (key.stack >= 0)
			key.stack = stacks.fd >= 0 &&
				    !bpf_map_lookup_elem(stacks.fd, &id, &stack) ?
				    stack_place(&stack) : DROP_NO_STACK;
		changed |= memcmp(&key, &keys[row], sizeof(key)) != 0;
		if (changed || row >= of_hash)		/* another row may have this key */
			to = row_of(keys, kept, &key);
		keys[to] = key;
		row_join(t, to, row, to == kept);
		buffers_count(t, to);
		kept += to == kept;
	}
	t->rows = kept;
	pin_close(&stacks);
	return err;
}

static void configure(const struct iface *i, const struct request *req, struct config *c)
{
	(void)i;
	c->stacks = req->stacks;
	c->drop_sock = tracepoint_args("kfree_skb") > 3;
}

static unsigned stack_entries(const struct config *c)
{
	return c->stacks ? DROP_STACKS : 0;
}

static unsigned near_entries(const struct config *c)
{
	return c->on >> METER_drop & 1 ? NR_DROP_COPIES * cpus_end() : 0;
}

static const struct map_plan maps[] = {
	{ "drop_near", .entries = near_entries, .pinned = true },
	{ "drop_stack", .entries = stack_entries, .pinned = true },
	{ "drop_reasons", .pinned = true },
	{}
};

const struct meter meter_drop = {
	.name = "drop",
	.help = "dropped packets: why, where in the kernel, by whom",
	.type = EVENT_METER,
	.by = BY_KEY,
	.point = RX_STACK,
	.row_size = sizeof(struct drop),
	.moments = WORD(struct drop, second),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct drop_key),
		.labels = labels,
		.text = key_text,
		.note = "stack",
		.line = stack_line,
		.minor = "benign",
		.is_minor = is_benign,
	},
	.events = {
		.fill = reasons_store,
		.maps = maps,
	},
	.configure = configure,
	.fixup = fixup,
};
