/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts questions to port 53 by the name they ask for. Their answers need not be read for it: they
 * have the ends and the number of their question.
 */
#ifndef NICPROBE_DNSNAME_BPF_H
#define NICPROBE_DNSNAME_BPF_H

#include "bpf/common/scratch.bpf.h"
#include "bpf/dns/dns.bpf.h"
#include "bpf/dnsname/dnsname.h"

#define DNSNAME_LONGEST	255	/* bytes of a name, with its root: RFC 1035, 2.3.4 */
#define DNSNAME_LABELS	128	/* of such a name, with its root */
#define DNSNAME_LABEL	63	/* bytes of a label */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, DNSNAMES + DNSNAMES_BELOW + 1);
	__type(key, struct dnsname_key);
	__type(value, struct dnsname);
} dnsname SEC(".maps");
static const struct dnsname dnsname_none;

MAP(LRU_HASH, dnsname_questions, struct roundtrip, struct dnsname_question, ROUNDTRIPS);

enum { DNSNAME_NAMES, DNSNAME_DOMAINS, NR_DNSNAME_ROOMS };
MAP(ARRAY, dnsname_taken, __u32, __u64, NR_DNSNAME_ROOMS);	/* rows of each */

/* A question while it is read: too large for the stack. */
struct dnsname_now {
	struct dnsname_question as;
	__u32 size;		/* of the name */
	__u32 labels;
	__u32 last[DNSNAME_BELOW];	/* where its last labels begin; the last first */
	struct {
		__be16 questions, answers, authorities, more;
		__u8 name[DNSNAME_LONGEST + 1 + 4];	/* then its type, and its class */
	} wire;
};
SCRATCH_MAP(dnsname_now, struct dnsname_now);

/*
 * These functions are not static, so that the verifier checks each by itself: else it would check
 * all that follows for each number of labels. Here: is there a name, and where do its labels begin?
 */
__noinline int dnsname_walk(struct dnsname_now *now, __u32 room)
{
	__u32 at = 0, len;

	if (!now)
		return false;
	now->labels = 0;
	for (int i = 0; i < DNSNAME_LABELS; i++) {
		if (at >= room || at >= DNSNAME_LONGEST)
			return false;
		len = now->wire.name[at];
		if (!len) {
			now->size = at + 1;
			return at + 5 <= room;
		}
		if (len > DNSNAME_LABEL)	/* or a reference to an earlier name */
			return false;
		for (int k = DNSNAME_BELOW - 1; k; k--)
			now->last[k] = now->last[k - 1];
		now->last[0] = at;
		now->labels++;
		at += len + 1;
		barrier_var(at);
	}
	return false;
}

/* Where the labels begin that have room with all that follow. */
__noinline int dnsname_cut(const struct dnsname_now *now)
{
	__u32 at = 0, size;

	if (!now)
		return 0;
	size = now->size;
	for (int i = 0; i < DNSNAME_LABELS; i++) {
		if (at >= DNSNAME_LONGEST || size - at <= DNSNAME_BYTES)
			break;
		at += now->wire.name[at] + 1;
		barrier_var(at);
	}
	return at;
}

/* Eight bytes at once; a byte that tells the length of a label is no letter. */
static __always_inline __u64 dnsname_lower(__u64 w)
{
	const __u64 high = 0x8080808080808080, low = w & ~high, ones = 0x0101010101010101;
	__u64 from_a = low + ones * (0x80 - 'A'), past_z = low + ones * (0x7f - 'Z');

	return w | ((from_a ^ past_z) & ~w & high) >> 2;
}

/* Makes the key of the name from there on. */
__noinline int dnsname_take(struct dnsname_now *now, __u32 from, __u32 what)
{
	struct dnsname_key *key = &now->as.key;
	__u32 size;

	if (!now)
		return false;
	size = now->size - from;
	barrier_var(from);
	barrier_var(size);
	if (from >= DNSNAME_LONGEST || !size || size > DNSNAME_BYTES)
		return false;
	__builtin_memset(key->words, 0, sizeof(key->words));
	if (bpf_probe_read_kernel(key->name, size, now->wire.name + from))
		return false;
	for (int i = 0; i < DNSNAME_BYTES / 8; i++)
		key->words[i] = dnsname_lower(key->words[i]);
	key->what = what;
	return true;
}

static __always_inline bool dnsname_read(struct dnsname_now *now, const struct ip_packet *p,
					 __u32 udp_len)
{
	const void *at = p->l4 + sizeof(struct dns_udp);
	__u64 size = udp_len - sizeof(struct dns_udp), here = p->linear - sizeof(struct dns_udp);
	__u32 from;

	if (size > here)
		size = here;
	if (size > sizeof(now->wire))
		size = sizeof(now->wire);
	barrier_var(size);
	if (size <= 8 || size > sizeof(now->wire) ||
	    bpf_probe_read_kernel(&now->wire, size, at) || !now->wire.questions ||
	    !dnsname_walk(now, size - 8))
		return false;
	from = now->size;
	if (from > DNSNAME_LONGEST)
		return false;
	now->as.key.type = now->wire.name[from] << 8 | now->wire.name[from + 1];
	from = dnsname_cut(now);
	return dnsname_take(now, from, from ? DNSNAME_CUT : DNSNAME_WHOLE);
}

/* The row of the key at hand, if it is there or may be made. */
static __always_inline struct dnsname *dnsname_find(struct dnsname_now *now, __u32 room,
						    __u64 most)
{
	struct dnsname *row = bpf_map_lookup_elem(&dnsname, &now->as.key);
	__u64 *taken = row ? NULL : row_at(&dnsname_taken, room);

	if (!taken || *taken >= most)
		return row;
	if (!bpf_map_update_elem(&dnsname, &now->as.key, &dnsname_none, BPF_NOEXIST))
		__sync_fetch_and_add(taken, 1);
	return bpf_map_lookup_elem(&dnsname, &now->as.key);
}

/* Of the last labels, at most so many, but not all. */
static __always_inline bool dnsname_below(struct dnsname_now *now)
{
	__u32 nr = now->labels;

	if (nr < 2)
		return false;
	nr = nr > DNSNAME_BELOW ? DNSNAME_BELOW - 1 : nr - 2;
	barrier_var(nr);
	return nr < DNSNAME_BELOW && dnsname_take(now, now->last[nr], DNSNAME_ALL_BELOW);
}

static __always_inline struct dnsname *dnsname_others(struct dnsname_now *now)
{
	struct dnsname *row;

	__builtin_memset(&now->as.key, 0, sizeof(now->as.key));
	row = bpf_map_lookup_elem(&dnsname, &now->as.key);
	if (!row)
		lost_add(METER_dnsname, 1);
	return row;
}

/* The key at hand becomes that of the row. */
static __always_inline struct dnsname *dnsname_row(struct dnsname_now *now, bool known, bool own)
{
	struct dnsname *row = NULL;

	if (known)
		row = dnsname_find(now, DNSNAME_NAMES, own ? DNSNAMES : DNSNAMES / 2);
	if (!row && known && dnsname_below(now))
		row = dnsname_find(now, DNSNAME_DOMAINS,
				   own ? DNSNAMES_BELOW : DNSNAMES_BELOW / 2);
	return row ?: dnsname_others(now);
}

static __always_inline void dnsname_asks(const struct ip_packet *p, const struct dns_packet *q,
					 struct dnsname_now *now)
{
	bool known = dnsname_read(now, p, q->size);
	struct dnsname *row = dnsname_row(now, known, packet_is_own(p->skb));
	struct dnsname_question *asked;

	if (!row)
		return;
	switch (roundtrip_asked(&dnsname_questions, &q->about, p->skb, true, &now->as.state)) {
	case ASKED_NEW:
		COUNT(row, asked, 1);
		if (!known)
			COUNT(row, unread, 1);
		break;
	case ASKED_AGAIN:		/* since, its name may have found no room */
		asked = bpf_map_lookup_elem(&dnsname_questions, &q->about);
		row = asked ? bpf_map_lookup_elem(&dnsname, &asked->key) : NULL;
		if (row)
			COUNT(row, again, 1);
		break;
	case ASKED_SEEN:
		break;
	}
}

static __always_inline void dnsname_answers(const struct ip_packet *p, const struct dns_packet *q)
{
	struct dnsname_question *asked = bpf_map_lookup_elem(&dnsname_questions, &q->about);
	enum dns_answer code = dns_code(q->flags);
	__u64 now = bpf_ktime_get_ns();
	struct dnsname *row;
	__be16 records;

	if (!asked || roundtrip_answered(&asked->state, p->skb, now) != ANSWER_FIRST)
		return;
	row = bpf_map_lookup_elem(&dnsname, &asked->key);
	if (!row)
		return;
	COUNT(row, answers[code], 1);
	if (q->flags & DNS_TRUNCATED)
		COUNT(row, truncated, 1);
	else if (code == DNS_OK && p->linear >= 16 &&
		 !bpf_probe_read_kernel(&records, sizeof(records), p->l4 + 14) && !records)
		COUNT(row, empty, 1);
	SPAN_ADD(row, latency, now - asked->state.since);
}

static __always_inline void dnsname_packet(const struct ip_packet *p, const struct dns_packet *q)
{
	struct dnsname_now *now = scratch_here(dnsname_now);
	struct dnsname *row;

	if (!now)
		return;
	if (q->unread) {
		row = dnsname_others(now);
		if (row)
			COUNT(row, unread, 1);
	} else if (p->received) {
		dnsname_answers(p, q);
	} else {
		dnsname_asks(p, q, now);
	}
}

#endif
