/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about name servers that fail or are slow, and about queries that are for nothing. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/dns/dns.h"
#include "bpf/dnsname/dnsname.h"
#include "findings/subjects.h"
#include "lib/util/log.h"

enum { SILENT, FAILS, SLOW, SEARCHED };

static const struct limit three = { 3, "3 queries or more" };
static const struct limit some = { 3, "3 answers or more" };
static const struct limit share = { .1, "a tenth of the answers of a server to a process" };
static const struct limit ten = { 10, "10 answers" };
static const struct limit slow = { .1, "0.1 s" };
static const struct limit many = { 20, "20 answers or more" };
static const struct limit half = { .5, "half as many as there are answers with records to the "
				       "names without the search domain" };

static const struct finding_kind kinds[] = {
	[SILENT] = {
		.id = "dns-unanswered", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, ON(dns), 0),
		.title = "A name server does not answer",
		.means = "The server is down, or a firewall drops queries or answers. Whoever "
			 "asks waits, five seconds with the C library's resolver, before it asks "
			 "again or asks the next server.",
		.when = "{1} of the last ten seconds have no answer after two",
		.remedy = "Is the server up, and the way to it: ip route get ADDRESS, ping "
			  "ADDRESS. Name another server first: /etc/resolv.conf, or resolvectl dns "
			  "where systemd-resolved asks.",
		.symptom = "Logins and connections by name hang for five seconds",
		.limits = { &three },
	},
	[FAILS] = {
		.id = "dns-fails", RATED(WARNING, LOSS),
		RESTS(ALWAYS, ON(dns), 0),
		.title = "A name server answers that it failed, or refuses to",
		.means = "SERVFAIL: the servers that it asks do not answer it, or their answers "
			 "are not signed as they must be. REFUSED: it does not serve this host. "
			 "The name is not known; that a name does not exist (NXDOMAIN) is another "
			 "answer.",
		.when = "{1} are SERVFAIL or REFUSED, and they are at least {2}",
		.remedy = "The log of the server says why. Where it refuses: its access rules, or "
			  "another server in /etc/resolv.conf.",
		.symptom = "Temporary failure in name resolution",
		.limits = { &some, &share },
	},
	[SLOW] = {
		.id = "dns-slow", RATED(WARNING, WAIT),
		RESTS(ALWAYS, ON(dns), 0),
		.title = "A name server answers slowly",
		.means = "Each lookup takes that long, and with it each connection by name: the "
			 "server is far or overloaded, or asks others for every name.",
		.when = "at least {1} come, and half of them take {2} or more",
		.remedy = "A server that is near and remembers answers: systemd-resolved or "
			  "unbound on this host or in its network, named first in "
			  "/etc/resolv.conf.",
		.symptom = "Connections by name begin slowly, those by address do not",
		.limits = { &ten, &slow },
	},
	[SEARCHED] = {
		.id = "dns-search", RATED(WARNING, WAIT),
		RESTS(ALWAYS, ON(dnsname), 0),
		.title = "Names are looked up in search domains, where they do not exist",
		.means = "A name with fewer dots than the option ndots is asked for with each "
			 "search domain behind it before it is asked for as it is. Where it is a "
			 "whole name, each of these queries is for nothing: a lookup takes several "
			 "times as long, and name servers get several times as many queries. "
			 "Kubernetes sets ndots to 5.",
		.when = "{1} say that a name with a search domain behind it does not exist, and "
			"they are at least {2}; and so it is for both types of address, as "
			"such a lookup asks for both",
		.remedy = "A dot at the end of the name, where it is configured: it is asked for "
			  "as it is. Or options ndots:2 in /etc/resolv.conf (in Kubernetes: "
			  "dnsConfig of the pod), for names of two dots and more. ndots:1 only "
			  "where no service is asked for as SERVICE.NAMESPACE: it would be asked "
			  "for outside first, and by musl (Alpine) in no search domain.",
		.symptom = "Most queries to name servers ask for names that do not exist",
		.limits = { &many, &half },
	},
};

static const char *server_text(const struct asker_key *key)
{
	char server[64];

	remote_text(&key->remote, server, sizeof(server));
	return text("%s", server);
}

/* "python3"; of what this host forwards, or sent late, it is not known. */
static const char *asker(const struct asker_key *key)
{
	return *key->comm ? text("%.*s", COMM_SIZE, key->comm) : "others";
}

static uint64_t failed(const struct dns *d)
{
	return d->answers[DNS_SERVFAIL] + d->answers[DNS_REFUSED];
}

static uint64_t answered(const struct dns *d)
{
	uint64_t n = 0;

	for (int code = 0; code < NR_DNS_ANSWERS; code++)
		n += d->answers[code];
	return n;
}

static void judge_silent(struct evidence *e)
{
	const struct asker_key *key = NULL;
	struct finding *f;
	uint64_t most = 0;

	for_each_row(r, e, METER_dns) {
		const struct dns *d = (const void *)r.words;

		if (d->unanswered[0] > most) {
			most = d->unanswered[0];
			key = r.key;
		}
	}
	if (most < three.value)
		return;
	f = finding_add(e->f, &kinds[SILENT], -1, "%s has not answered %" PRIu64 " queries of %s",
			server_text(key), most, asker(key));
	finding_counted(e, f, most, "unanswered", "queries");
	finding_advise(f, "is %s up, and the way to it: ping %s; else name another server first, "
		       "in /etc/resolv.conf", server_text(key), server_text(key));
}

static void judge_fails(struct evidence *e)
{
	const struct asker_key *key = NULL;
	const struct dns *worst = NULL;
	struct finding *f;

	for_each_row(r, e, METER_dns) {
		const struct dns *d = (const void *)r.words;

		if (failed(d) < share.value * answered(d) ||
		    (worst && failed(d) <= failed(worst)))
			continue;
		worst = d;
		key = r.key;
	}
	if (!worst || !worth(e, failed(worst), some.value))
		return;
	f = finding_add(e->f, &kinds[FAILS], -1, "%s failed or refused %" PRIu64 " of the %" PRIu64
			" queries of %s that were answered", server_text(key), failed(worst),
			answered(worst), asker(key));
	finding_counted(e, f, failed(worst), "failed", "answers");
	finding_fact(f, "answers", answered(worst), "answers");
	finding_advise(f, "why: the log of %s; another server may know the names",
		       server_text(key));
}

static void judge_slow(struct evidence *e)
{
	const struct metric *k = metric_of(&meter_dns, "latency");

	for_each_row(r, e, METER_dns) {
		const struct dns *d = (const void *)r.words;
		double p50 = hist_percentile(k, words_at(&d->latency.sum), .5);
		struct finding *f;

		if (isnan(p50) || p50 < slow.value || !worth(e, answered(d), ten.value))
			continue;
		f = finding_add(e->f, &kinds[SLOW], -1, "%s takes %s (median) to answer %s",
				server_text(r.key), finding_time(p50), asker(r.key));
		finding_harm(f, p50);
		finding_strikes(f, rate(e, answered(d)));
		finding_fact(f, "latency", p50, "seconds");
		finding_advise(f, "a name server that is near and remembers answers, on this host "
			       "or in its network");
	}
}

#define TYPE_A		1	/* RFC 1035, 3.2.2 */
#define TYPE_AAAA	28	/* RFC 3596 */

/* Names that exist, with what they were asked for. */
struct existing {
	const struct dnsname_key *key;
	uint64_t answers;		/* with records */
	bool searched;			/* with a search domain, too */
};

static int existing_compare(const void *a, const void *b)
{
	const struct existing *one = a, *other = b;

	return memcmp(one->key, other->key, sizeof(*one->key));
}

static uint64_t with_records(const struct dnsname *d)
{
	return d->answers[DNS_OK] > d->empty ? d->answers[DNS_OK] - d->empty : 0;
}

static uint64_t without_name(const struct dnsname *d)
{
	return d->answers[DNS_NXDOMAIN];
}

/* Names with such answers, sorted, to be freed. */
static struct existing *names_list(struct evidence *e, uint64_t (*such)(const struct dnsname *),
				   size_t *nr)
{
	struct existing *list = has(e, METER_dnsname) ?
		malloc((e->s->tables[METER_dnsname].rows ?: 1) * sizeof(*list)) : NULL;

	*nr = 0;
	for_each_row(r, e, METER_dnsname) {
		const struct dnsname *d = (const void *)r.words;
		const struct dnsname_key *key = r.key;

		if (list && key->what == DNSNAME_WHOLE && such(d))
			list[(*nr)++] = (struct existing){ key, such(d), false };
	}
	if (list)
		qsort(list, *nr, sizeof(*list), existing_compare);
	return list;
}

static struct existing *names_find(const struct dnsname_key *key, struct existing *list, size_t nr)
{
	return bsearch(&(struct existing){ key, 0, false }, list, nr, sizeof(*list),
		       existing_compare);
}

/*
 * Is the name asked for with the other type of address, too? A lookup of an address asks for both;
 * block lists, whose names begin with others that exist, are asked for one.
 */
static bool has_other_type(const struct dnsname_key *key, struct existing *missing, size_t nr)
{
	struct dnsname_key other = *key;

	if (key->type != TYPE_A && key->type != TYPE_AAAA)
		return false;
	other.type = key->type == TYPE_A ? TYPE_AAAA : TYPE_A;
	return names_find(&other, missing, nr);
}

/*
 * The name of two labels or more that has a search domain behind it in `key`. NULL: there is none
 * that exists.
 */
static struct existing *without_search(const struct dnsname_key *key, struct existing *list,
				       size_t nr)
{
	unsigned at = key->name[0] + 1;

	if (key->what != DNSNAME_WHOLE || !key->name[0])
		return NULL;
	while (at < DNSNAME_BYTES && key->name[at]) {
		struct dnsname_key as = { .type = key->type, .what = DNSNAME_WHOLE };
		struct existing *found;

		at += key->name[at] + 1;
		if (at >= DNSNAME_BYTES || !key->name[at])
			break;
		memcpy(as.name, key->name, at);
		found = names_find(&as, list, nr);
		if (found)
			return found;
	}
	return NULL;
}

/* What is asked for nothing. */
struct wasted {
	uint64_t queries, most;
	double seconds;
	const struct dnsname_key *one;	/* asked most */
};

static struct wasted wasted_find(struct evidence *e, struct existing *list, size_t nr)
{
	struct wasted w = {};
	size_t nr_missing;
	struct existing *missing = names_list(e, without_name, &nr_missing);

	for_each_row(r, e, METER_dnsname) {
		const struct dnsname *d = (const void *)r.words;
		uint64_t times = without_name(d);
		struct existing *of = times && has_other_type(r.key, missing, nr_missing) ?
				      without_search(r.key, list, nr) : NULL;

		if (!of)
			continue;
		of->searched = true;
		w.queries += times;
		w.seconds += d->latency.sum * 1e-9;
		if (times > w.most) {
			w.most = times;
			w.one = r.key;
		}
	}
	free(missing);
	return w;
}

static void judge_searched(struct evidence *e)
{
	size_t nr;
	struct existing *list = names_list(e, with_records, &nr);
	struct wasted w = list ? wasted_find(e, list, nr) : (struct wasted){};
	uint64_t lookups = 0;
	struct finding *f;
	char name[200];

	for (size_t i = 0; list && i < nr; i++)
		lookups += list[i].searched ? list[i].answers : 0;
	free(list);
	if (!lookups || !worth(e, w.queries, many.value) || w.queries < half.value * lookups)
		return;
	dnsname_text(w.one, name, sizeof(name));
	f = finding_add(e->f, &kinds[SEARCHED], -1, "%" PRIu64 " queries asked for names in search "
			"domains, where they do not exist, for %" PRIu64 " answers with records: "
			"%s", w.queries, lookups, name);
	finding_harm(f, w.seconds / lookups);
	finding_strikes(f, rate(e, lookups));
	finding_fact(f, "wasted", w.queries, "queries");
	finding_fact(f, "lookups", lookups, "queries");
	finding_advise(f, "a dot at the end of the name, where it is configured; or options "
		       "ndots:2 in /etc/resolv.conf of who asks, or in the dnsConfig of the pod, "
		       "for names of two dots and more");
}

static void judge(struct evidence *e)
{
	judge_silent(e);
	judge_fails(e);
	judge_slow(e);
	judge_searched(e);
}

DEFINE_SUBJECT(resolving, "Name servers of the host", .host = true)
