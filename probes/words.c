/* SPDX-License-Identifier: GPL-2.0 */
/* The words of a question: names of probes and fields, and what is wrong with them. */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/list.h"
#include "lib/util/log.h"
#include "lib/util/near.h"
#include "probes/asking.h"
#include "probes/raw.h"
#include "probes/syscalls.h"

bool word_next(const char **list, char word[WORD_SIZE])
{
	const char *from = *list, *end;

	if (!from)
		return false;
	end = from + strcspn(from, ",");
	*list = *end ? end + 1 : NULL;
	while (from < end && isspace((unsigned char)*from))
		from++;
	while (end > from && isspace((unsigned char)end[-1]))
		end--;
	snprintf(word, WORD_SIZE, "%.*s", (int)(end - from), from);
	return true;
}

#define H(group) (1ull << GROUP_##group)

/* What sources can tell of a packet, but never of one of this provider. */
static const struct {
	const char *provider;
	__u64 groups;
} never[] = {
	{ "arp",
	  H(ADDR) | H(IP) | H(IPV4) | H(IPV6) | H(PORTS) | H(TCPPORTS) | H(TCP) | H(UDP) |
		  H(ICMP) | H(SCTP) },
	{ "icmp",
	  H(ARP) | H(SCTP) | H(PORTS) | H(TCPPORTS) | H(TCP) | H(UDP) | H(TCPS) | H(TCPENDS) |
		  H(STATE) | H(UDPENDS) },
	{ "ip", H(ARP) },
	{ "tcp", H(ARP) | H(ICMP) | H(UDP) | H(UDPENDS) | H(SCTP) },
	{ "udp", H(ARP) | H(ICMP) | H(TCPPORTS) | H(TCP) | H(TCPS) | H(TCPENDS) | H(STATE) |
		  H(SCTP) },
	{ "sctp", H(ARP) | H(ICMP) | H(UDP) | H(UDPENDS) | H(TCPPORTS) | H(TCP) | H(TCPS) |
		  H(TCPENDS) | H(STATE) },
	{ "sdt", H(ARP) },
};

__u64 probe_groups(enum stable_probe p)
{
	__u64 groups = 0;
	bool served = false;

	for (const struct serving *s = servings; s->probe != NR_STABLE_PROBES; s++)
		if (s->probe == p) {
			groups |= s->groups;
			served = true;
		}
	for (unsigned i = 0; i < NR_OF(never); i++)
		if (!strcmp(stable_probes[p].provider, never[i].provider))
			groups &= ~never[i].groups;
	/* nothing tells of the probe: serving_for() has better words for that */
	return served ? groups | H(BASE) : UINT64_MAX;
}

static bool has(enum stable_probe p, const struct field *f)
{
	return f->group == GROUP_SINCE || probe_groups(p) >> f->group & 1;
}

static enum stable_probe first_of(probe_set probes)
{
	enum stable_probe p = 0;

	while (!(probes >> p & 1))
		p++;
	return p;
}

static int unknown_field(struct asking *a, const char *where, const char *word)
{
	struct near near = near_to(word);

	for (const struct field *f = fields; f->name; f++)
		near_try(&near, f->name);
	return error_set(a->e, -EINVAL, *near.name ? near.name :
			 text("nicprobe list -v %s", probe_name(first_of(a->q->probes))),
			 "%s: \"%s\" is no field", where, word);
}

static int absent_field(struct asking *a, const char *where, const struct field *f)
{
	enum stable_probe p = first_of(a->q->probes);
	bool many = a->q->probes & (a->q->probes - 1);
	bool task = f->group == GROUP_PROC;
	const char *why =
		task ? ": they happen in softirq, where the current process is a bystander" :
		field_is_stack(f) ? ": the programs that see them cannot read it, or not for a "
				    "process that is a bystander" : "";

	return error_set(a->e, task ? -EOPNOTSUPP : -EINVAL,
			 text("nicprobe list -v %s", probe_name(p)),
			 "%s: events of %s have no %s%s", where,
			 many ? "these probes" : probe_name(p), f->name, why);
}

/* The field of an argument, which may call it otherwise. */
static const struct field *member_find(const char *of, const char *name)
{
	bool before = !strcmp(of, "tcplsinfo_t") && !strcmp(name, "tcps_state");
	const struct field *f = field_find(before ? "tcpls_state" : name);

	return f && f->of && !strcmp(f->of, of) ? f : NULL;
}

static int unknown_member(struct asking *a, const char *where, enum stable_probe p,
			  unsigned long arg, const char *name)
{
	const char *of = arg < PROBE_ARGS ? stable_probes[p].args[arg] : NULL;
	struct near near = near_to(name);

	for (unsigned i = 0; i < PROBE_ARGS; i++)
		if (stable_probes[p].args[i] && member_find(stable_probes[p].args[i], name))
			return error_set(a->e, -EINVAL, text("args[%u]->%s", i, name),
					 "%s: args[%lu] of %s is %s, which has no %s", where, arg,
					 probe_name(p), of ?: "nothing", name);
	for (const struct field *f = fields; f->name; f++)
		if (of && f->of && !strcmp(f->of, of))
			near_try(&near, f->name);
	return error_set(a->e, -EINVAL, *near.name ? text("args[%lu]->%s", arg, near.name) :
			 text("nicprobe list -v %s", probe_name(p)),
			 "%s: args[%lu] of %s is %s, which has no %s", where, arg, probe_name(p),
			 of ?: "nothing", name);
}

/* "args[2]->ip_saddr": of every probe, as each has arguments of its own. */
static const struct field *member_asked(struct asking *a, const char *where, const char *word)
{
	const struct field *f = NULL;
	unsigned long arg;
	char *end;

	arg = strtoul(word + 5, &end, 10);
	if (!isdigit((unsigned char)word[5]) || strncmp(end, "]->", 3)) {
		error_set(a->e, -EINVAL, "args[2]->ip_saddr", "%s: cannot read \"%s\"", where,
			  word);
		return NULL;
	}
	for (int p = 0; p < NR_STABLE_PROBES; p++) {
		const char *of = arg < PROBE_ARGS ? stable_probes[p].args[arg] : NULL;

		if (!(a->q->probes >> p & 1))
			continue;
		f = of ? member_find(of, end + 3) : NULL;
		if (!f) {
			unknown_member(a, where, p, arg, end + 3);
			return NULL;
		}
	}
	return f;
}

const struct field *field_asked(struct asking *a, const char *where, const char *word)
{
	bool member = !strncmp(word, "args[", 5);
	const struct field *f = member ? member_asked(a, where, word) : field_find(word);

	if (!f) {
		if (!member)
			unknown_field(a, where, word);
		return NULL;
	}
	if (f->group == GROUP_SINCE && !a->q->since && !a->q->query.delta) {
		error_set(a->e, -EINVAL, "--since PROBE --on cs_cid",
			  "%s: %s is measured by --since or --delta", where, f->name);
		return NULL;
	}
	for (int p = 0; p < NR_STABLE_PROBES; p++)
		if (a->q->probes >> p & 1 && has(p, f))
			return f;
	absent_field(a, where, f);
	return NULL;
}

const struct field *field_used(struct asking *a, const char *where, const char *word)
{
	const struct field *f = field_asked(a, where, word);

	if (!f || f->offset != offsetof(struct probe_event, timestamp))
		return f;
	error_set(a->e, -EINVAL, "--delta cs_cid", "%s: %s can only be printed", where, f->name);
	return NULL;
}

/* What others have, and nicprobe has not. */
static const struct {
	const char *name;		/* as it begins */
	const char *why, *instead;
} lacking[] = {
	{ "tcpf:", "Linux has no TCP fusion: tcp::: has these packets, too", NULL },
	{ "mib:", "counters cannot be traced", NULL },
	{ "udp:::stream-", "datagrams have no stream that begins or ends, and DTrace never said "
			   "which it meant; the flows that there are can be counted",
	  "nicprobe trace udp:::receive --by ip_saddr,udp_sport,ip_daddr,udp_dport" },
};

int probe_lacking(const char *word, struct error *e)
{
	for (unsigned i = 0; i < NR_OF(lacking); i++)
		if (!strncmp(word, lacking[i].name, strlen(lacking[i].name)))
			return error_set(e, -EOPNOTSUPP,
					 lacking[i].instead ?: "nicprobe list ':::'",
					 "there is no %s: %s", word, lacking[i].why);
	return 0;
}

static int unknown_probe(struct asking *a, const char *where, const char *word)
{
	struct near near = near_to(word);
	const char *function = strchr(word, ':');

	if (probe_lacking(word, a->e))
		return -EOPNOTSUPP;
	function = function && function[1] == ':' ? function + 2 : NULL;
	if (function && !strncmp(word, "syscall:", 8) && *function && *function != ':') {
		char name[WORD_SIZE];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(function, ":"), function);
		if (!syscall_known(name)) {
			near = near_to(name);
			syscalls_near(&near);
			return error_set(a->e, -EINVAL, *near.name ? near.name : NULL,
					 "%s: \"%s\" is no system call", where, name);
		}
	}
	for (int p = 0; p < NR_STABLE_PROBES; p++)
		near_try(&near, probe_name(p));
	return error_set(a->e, -EINVAL, *near.name ? near.name : "nicprobe list ':::'",
			 "%s: \"%s\" is no probe%s", where, word,
			 strchr(word, ':') ? "" : "; they are called PROVIDER:::NAME");
}

#define CALLS	(1ull << PROBE_syscall_entry | 1ull << PROBE_syscall_return)

static int function_keep(struct asking *a, const char *where, const char *function, __u64 of)
{
	struct question *q = a->q;

	if (q->nr_functions == FUNCTIONS_MOST)
		return error_set(a->e, -E2BIG, NULL, "%s: more than %u patterns of system calls",
				 where, FUNCTIONS_MOST);
	q->function_of[q->nr_functions] = of;
	snprintf(q->function[q->nr_functions++], sizeof(*q->function), "%s", function);
	return 0;
}

int probes_asked(struct asking *a, const char *where, const char *list, probe_set *probes)
{
	char word[WORD_SIZE], function[64];
	int err = 0;

	*probes = 0;
	while (!err && word_next(&list, word)) {
		probe_set found;

		if (raw_is(word)) {
			err = raw_ask(where, word, probes == &a->q->since, probes, a->e);
			continue;
		}
		found = probes_match(word, function);
		if (!found)
			return unknown_probe(a, where, word);
		*probes |= found;
		if (!(found & (found - 1)))
			a->q->named |= found;
		if (found & CALLS)
			err = function_keep(a, where, function, found & CALLS);
	}
	return err;
}
