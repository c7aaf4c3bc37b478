/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about packets that the stack or a socket drops, from the table of losses. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/drop/drop.h"
#include "lib/kernel/reasons.h"
#include "findings/dropping.h"
#include "findings/subjects.h"
#include "lib/kernel/symbol.h"
#include "lib/net/full_socket.h"
#include "lib/util/log.h"

#define FEW 10	/* packets: below this, neighbours are not looked up */
#define MUCH .5	/* of the packets: above this the receiver is too slow, not hit by bursts */

static const struct finding_kind *kind(unsigned nr)
{
	const struct loss *l = loss_at(nr);

	return l ? &l->kind : NULL;
}

/* Fills in the words in braces of a template. */
struct filling {
	struct evidence *e;
	bool whole;		/* every value is known */
	bool host;		/* one is a sysctl that only the host has */
};

/* "4*net.core.rmem_max" to its value. */
static void value_put(struct filling *f, const char *word, char *out, size_t size)
{
	unsigned long times = 1, value;
	char path[120];
	bool host;
	char *end;

	if (isdigit((unsigned char)*word)) {
		times = strtoul(word, &end, 10);
		word = end + (*end == '*');
	}
	snprintf(path, sizeof(path), "%s", word);
	for (char *c = path; *c && !strchr(word, '/'); c++)
		*c = *c == '.' ? '/' : *c;
	value = sysctl_value(f->e, path, &host);
	f->whole &= value > 0;
	f->host |= host;
	snprintf(out, size, "%lu", times * value);
}

/* Replaces {if} first: it may be part of a sysctl's name. */
static void fill(struct filling *f, const char *template, char *out, size_t size)
{
	char word[120];

	*out = '\0';
	template = with_iface(f->e, template);
	for (const char *at; (at = strchr(template, '{')); template = at + strcspn(at, "}") + 1) {
		size_t len = strlen(out);

		snprintf(word, sizeof(word), "%.*s", (int)strcspn(at + 1, "}"), at + 1);
		snprintf(out + len, size - len, "%.*s", (int)(at - template), template);
		len = strlen(out);
		value_put(f, word, out + len, size - len);
	}
	snprintf(out + strlen(out), size - strlen(out), "%s", template);
}

/* Splits a command into words at blanks. */
static void fix_words(struct finding *one, char *command)
{
	const char *words[6] = {};
	char *save, *word = strtok_r(command, " ", &save);

	for (unsigned i = 0; word && i < 6; i++, word = strtok_r(NULL, " ", &save))
		words[i] = word;
	finding_fix(one, words[0], words[1], words[2], words[3], words[4], words[5]);
}

bool reason_fits(const char *pattern, const struct drop_key *key)
{
	const char *reason = drop_reason_name(key->reason), *symbol;

	for (; *pattern && *pattern != '*' && *pattern != '@'; pattern++, reason++)
		if (*pattern != *reason)
			return false;
	if (*pattern != '*' && *reason)
		return false;
	if (*pattern != '@')
		return true;
	symbol = symbol_at(key->location);
	return symbol && !strncmp(symbol, pattern + 1, strlen(pattern + 1));
}

bool loss_fits(const struct loss *l, const struct drop_key *key, bool silent)
{
	if (l->if_silent && silent && reason_fits(l->if_silent, key))
		return true;
	for (unsigned i = 0; i < MAX_REASONS && l->reasons[i]; i++)
		if (reason_fits(l->reasons[i], key))
			return !l->meant || l->meant(key);
	return false;
}

/*
 * Packets dropped for these reasons, and the row with the most of them. `silent`: a neighbour does
 * not answer.
 */
static uint64_t dropped(const struct evidence *e, const struct loss *l, bool silent,
			const struct drop_key **most)
{
	uint64_t n = 0;

	for_each_row(r, e, METER_drop) {
		const struct drop_key *key = r.key;

		if (!*r.words || key->direction == DROP_UNSURE || !loss_fits(l, key, silent))
			continue;
		*most = *most ?: key;	/* rows are sorted: the first has most */
		n += *r.words;
	}
	return n;
}

/* "conntrack:drop" names its source; without one it is nstat. `most`: the largest counter. */
static uint64_t counted(const struct evidence *e, const struct loss *l, const char **most)
{
	uint64_t n = 0, top = 0, less = 0;

	for (unsigned i = 0; i < MAX_REASONS && l->counters[i]; i++) {
		bool off = *l->counters[i] == '-';
		const char *name = l->counters[i] + off, *colon = strchr(name, ':');
		uint64_t one = kernel_counted(e, colon ? text("%.*s", (int)(colon - name), name) :
					      "nstat", colon ? colon + 1 : name);

		if (off)
			less += one;
		else
			n += one;
		if (!off && one > top) {
			top = one;
			*most = name;
		}
	}
	return n > less ? n - less : 0;
}

/* Who chose the size of the socket's buffer: the advice depends on it. */
enum choice { CHOICE_UNKNOWN, CHOICE_DEFAULT, CHOICE_MOST, CHOICE_OWN };

/* setsockopt() doubles the request, and caps it at rmem_max first (socket(7)). */
static enum choice chosen(const struct evidence *e, const struct full_socket *s)
{
	bool host;

	if (s->room == sysctl_value(e, "net/core/rmem_default", &host))
		return CHOICE_DEFAULT;
	return s->room == 2 * sysctl_value(e, "net/core/rmem_max", &host) ? CHOICE_MOST :
									     CHOICE_OWN;
}

/* "python3 (pid 77)": its figures are since the socket was opened, which may be long ago. */
static void advise_socket(struct finding *one, const struct full_socket *s, enum choice choice)
{
	const char *who = *s->by.name ? text("%s (pid %d)", s->by.name, s->by.pid) :
					"owner: ss -uamp";

	finding_advise(one, "the socket of port %u (%s) lost %u packets since it was opened, and "
		       "%u bytes wait in its buffer of %u: %s",
		       s->port, who, s->drops, s->held,
		       s->room, s->by.stopped ?
		       text("the program is stopped; kill -CONT %d resumes it", s->by.pid) :
		       choice == CHOICE_OWN ? "the program set that size with SO_RCVBUF, and must "
					      "ask for more or read faster" :
		       choice == CHOICE_MOST ? "it already asked for as much as rmem_max allows, "
					       "or reads too slowly" :
		       "it reads too slowly, or must ask for more with SO_RCVBUF");
	finding_fact(one, "port", s->port, "port");
	finding_fact(one, "pid", s->by.pid, "pid");
}

/* A sysctl of neighbours, where IPv6 dropped the packets: it has its own. */
static const char *of_family(const char *template, const struct drop_key *most)
{
	const char *symbol = most ? symbol_at(most->location) : NULL, *all = "";
	static const char ipv4[] = "net.ipv4.neigh";

	if (!symbol || strncmp(symbol, "ip6_", 4))
		return template;
	for (const char *at; (at = strstr(template, ipv4)); template = at + strlen(ipv4))
		all = text("%s%.*snet.ipv6.neigh", all, (int)(at - template), template);
	return text("%s%s", all, template);
}

/* Adds what the command also needs, if this host has it. */
static void fill_also(struct evidence *e, const char *template, char *out, size_t size)
{
	struct filling f = { .e = e, .whole = true };
	size_t len = strlen(out);
	char word[200];

	fill(&f, template, word, sizeof(word));
	if (f.whole)
		snprintf(out + len, size - len, " %s", word);
}

/* `most`: the drops that there are most of; NULL: not known. */
static void advise(struct evidence *e, struct finding *one, const struct loss *l,
		   const struct drop_key *most, double lost)
{
	struct filling f = { .e = e, .whole = true };
	struct full_socket socket;
	bool known = one && l->of_sockets && fullest_socket(e, &socket);
	enum choice choice = known ? chosen(e, &socket) : CHOICE_UNKNOWN;
	char out[400];

	if (l->fix && !(l->only_bursts && lost > MUCH) && choice != CHOICE_OWN &&
	    !(known && socket.by.stopped)) {
		fill(&f, of_family(l->fix, most), out, sizeof(out));
		if (f.whole) {
			if (l->fix_also)
				fill_also(e, l->fix_also, out, sizeof(out));
			fix_words(one, out);
			finding_changes(one, "%s", l->changes);
		}
		if (one)
			one->host = f.host;
	}
	fill(&f, l->advice ?: "", out, sizeof(out));
	finding_advise(one, "%s", out);
	if (known)
		advise_socket(one, &socket, choice);
}

void loss_advise(struct evidence *e, struct finding *f, const char *id, double lost)
{
	const struct loss *l;

	for (unsigned i = 0; (l = loss_at(i)); i++)
		if (!strcmp(l->kind.id, id))
			advise(e, f, l, NULL, lost);
}

/* A drop without a named reason is reported by its location. */
static const char *why(const struct drop_key *key)
{
	const char *name = drop_why(key), *symbol = symbol_at(key->location);

	return strcmp(name, "NOT_SPECIFIED") || !symbol ? name : text("in %s()", symbol);
}

static void judge_one(struct evidence *e, const struct loss *l)
{
	const struct drop_key *most = NULL;
	char who[64] = "";
	unsigned silent = (l->if_silent || l->unless_silent) && dropped_for(e, "N*") >= FEW ?
			  silent_neighbours(e, who, sizeof(who)) : 0;
	uint64_t n = *l->reasons ? dropped(e, l, silent, &most) : 0;
	const struct limit *least = l->kind.limits[0], *part = l->kind.limits[1];
	struct filling f = { .e = e };
	const char *counter = "";
	struct finding *one;
	uint64_t told = 0, all;
	bool sent;
	char what[200];
	int queue;

	if (!has(e, METER_drop) || !*l->reasons || l->untraced)
		told = counted(e, l, &counter);
	sent = most && most->direction == DROP_TX;
	if (told > n) {
		n = told;
		most = NULL;
	}
	if (silent && l->unless_silent)
		return;
	queue = most && most->queue != DROP_QUEUE_UNKNOWN ? most->queue : -1;
	if (!worth(e, n, least->value))
		return;
	all = sent ? sent_packets(e) : received(e, -1, -1);
	if (part && n < part->value * all)
		return;
	fill(&f, l->what, what, sizeof(what));
	one = finding_add(e->f, &l->kind, -1, "%s%s (%s%s)", packets(n, what),
			  silent > 1 ? text(": %s and %u more", who, silent - 1) :
			  silent ? text(": %s", who) : "", most ? why(most) : counter,
			  queue < 0 ? "" : text(", most on queue %d", queue));
	finding_packets(e, one, n);
	if (all)
		finding_fact(one, "share", (double)n / all, "ratio");
	advise(e, one, l, most, all ? (double)n / all : 0);
}

static void judge(struct evidence *e)
{
	const struct loss *l;

	for (unsigned i = 0; (l = loss_at(i)); i++)
		judge_one(e, l);
}

const struct subject subject_dropping = {
	.name = "dropping",
	.title = "Drops in the stack or at a socket",
	.kind = kind,
	.judge = judge,
};
