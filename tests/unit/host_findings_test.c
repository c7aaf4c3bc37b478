/* SPDX-License-Identifier: GPL-2.0 */
/* Findings of the host: what holds connections back, from made-up rows. */
#include <netinet/in.h>
#include <stdlib.h>

#include "bpf/dns/dns.h"
#include "bpf/dnsname/dnsname.h"
#include "bpf/sockmem/sockmem.h"
#include "bpf/tcp/tcp.h"
#include "bpf/tcpwait/tcpwait.h"

#define SUBJECT "host findings "
#include "judge.h"
#include "host.h"

/* 192.0.2.NR; 0: those that find no room in the table */
static struct remote host(unsigned nr)
{
	return nr ? (struct remote){ { [10] = 0xff, [11] = 0xff, [12] = 192, 0, 2, nr } } :
		    (struct remote){};
}

/* So many spans of `seconds` each, in a histogram of a row. */
static void spans(const struct meter *m, const char *name, void *words, uint64_t nr, double seconds)
{
	const struct metric *k = metric_of(m, name);
	uint64_t *hist = (uint64_t *)words + k->at;
	unsigned slot = 0;

	while (slot + 1 < hist_slots(k) && hist_bound(k, slot) < seconds)
		slot++;
	hist[0] += nr * (seconds / k->scale);
	hist[1 + slot] += nr;
}

/* Ten connections to a host, busy for a second each, of which they were held `share`. */
static struct tcp *held(struct snapshot *s, unsigned nr, const char *by, double share, double rtt)
{
	struct tcp *t = row(s, METER_tcp, &(struct tcp_key){ host(nr) });

	spans(&meter_tcp, "busy", t, 10, 1);
	spans(&meter_tcp, "rtt", t, 10, rtt);
	spans(&meter_tcp, by, t, 10, share);
	t->segments = 1000;
	return t;
}

static void says(const char *name, const char *by, double share, double rtt, const char *id,
		 const char *what, const char *try)
{
	struct snapshot *s = window();

	held(s, 1, by, share, rtt);
	held(s, 2, by, share / 10, rtt);
	finds(s, NULL, name, id, what, try);
	forget(s);
}

static void test_held(void)
{
	static const char *const by[] = {
		"limited_by_receiver", "limited_by_sndbuf", "limited_by_wmem",
	};

	says("a receiver's window", "limited_by_receiver", .5, .04, "tcp-receive-window",
	     "the receive window of 192.0.2.1 held connections to it back for 5 s, 50% of",
	     "SO_RCVBUF");
	says("a buffer that was set", "limited_by_sndbuf", .5, .04, "tcp-send-buffer",
	     "held connections to 192.0.2.1 back for 5 s, 50% of",
	     "let it not set SO_SNDBUF, or, where tb is more than");
	says("a buffer that may not grow", "limited_by_wmem", .5, .04, "tcp-send-limit",
	     "held connections to 192.0.2.1 back for 5 s, 50% of",
	     "sysctl -w 'net.ipv4.tcp_wmem=");
	for (unsigned i = 0; i < NR_OF(by); i++) {
		says(text("not near: %s", by[i]), by[i], .5, .009, NULL, NULL, NULL);
		says(text("not next door: %s", by[i]), by[i], .5, .001, NULL, NULL, NULL);
	}
	says("not for less than 30%", "limited_by_sndbuf", .29, .04, NULL, NULL, NULL);
	says("not for less than a second", "limited_by_wmem", .09, .04, NULL, NULL, NULL);
}

/* Of two hosts the one whose connections were held longest. */
static void test_longest(void)
{
	struct snapshot *s = window();

	held(s, 1, "limited_by_sndbuf", .4, .04);
	held(s, 2, "limited_by_sndbuf", .8, .04);
	held(s, 3, "limited_by_sndbuf", .6, .04);
	held(s, 0, "limited_by_sndbuf", .9, .04);
	finds(s, NULL, "the host that is held longest", "tcp-send-buffer", "192.0.2.2",
	      "dst 192.0.2.2");
	forget(s);
}

static void waits(struct snapshot *s, unsigned nr, enum tcpwait_cause cause, uint64_t times,
		  double seconds)
{
	struct tcpwait *t = row(s, METER_tcpwait, &(struct tcpwait_key){ host(nr), cause });

	spans(&meter_tcpwait, "held", t, times, seconds);
	t->bytes = times * 1400;
}

/* Waits of 14 ms for 1400 bytes each: 100 kB/s. */
static void paced(const char *name, enum tcpwait_cause cause, uint64_t times, double others,
		  const char *id, const char *what)
{
	struct snapshot *s = window();

	waits(s, 1, cause, times, .014);
	waits(s, 1, TCPWAIT_CWND, 10, others);
	waits(s, 2, TCPWAIT_CWND, 10, 1);
	finds(s, NULL, name, id, what, NULL);
	forget(s);
}

static void test_paced(void)
{
	paced("a rate that a program sets", TCPWAIT_MAX_RATE, 100, .05, "tcp-max-rate",
	      "connections to 192.0.2.1 send no more than about 100 kB/s");
	paced("not that of congestion control", TCPWAIT_PACING, 100, .05, NULL, NULL);
	paced("not where other waits are longer", TCPWAIT_MAX_RATE, 100, .2, NULL, NULL);
	paced("not for less than a second", TCPWAIT_MAX_RATE, 60, .05, NULL, NULL);
}

/* The longest waits are of those that find no room in the table: none of them could be named. */
static void test_others(void)
{
	struct snapshot *s = window();

	waits(s, 0, TCPWAIT_MAX_RATE, 200, .014);
	waits(s, 0, TCPWAIT_NAGLE, 200, .04);
	finds(s, NULL, "not a rate, nor small writes, to no one host", NULL, NULL, NULL);
	forget(s);
	s = window();
	waits(s, 0, TCPWAIT_NAGLE, 200, .04);
	waits(s, 1, TCPWAIT_NAGLE, 100, .04);
	finds(s, NULL, "but small writes to one", "tcp-small-writes",
	      "100 small writes to 192.0.2.1", "dst 192.0.2.1");
	forget(s);
	s = window();
	waits(s, 0, TCPWAIT_MAX_RATE, 200, .014);
	waits(s, 1, TCPWAIT_MAX_RATE, 100, .014);
	finds(s, NULL, "and a rate to one", "tcp-max-rate", "to 192.0.2.1", "dst 192.0.2.1");
	forget(s);
}

/* A connection whose window, or that of the other end, is closed for so long. */
static void shut(struct snapshot *s, enum sockmem_of of, unsigned nr, unsigned for_s)
{
	struct sockmem *one = row(s, METER_sockmem, &(struct sockmem_key){
		.protocol = IPPROTO_TCP, .of = of, .local = host(9), .remote = host(nr),
		.local_port = 8000, .remote_port = 40000 + nr,
	});

	one->shut[0] = for_s;
}

/* So many connections there are. */
static void connected(struct snapshot *s, enum sockmem_of of, unsigned nr)
{
	struct sockmem *all = row(s, METER_sockmem, &(struct sockmem_key){
		.protocol = IPPROTO_TCP, .of = of,
	});

	all->sockets[0] = nr;
}

static void closed(const char *name, enum sockmem_of of, unsigned for_s, const char *id,
		   const char *what, const char *try)
{
	struct snapshot *s = window();

	shut(s, of, 1, for_s);
	shut(s, of, 2, 1);
	finds(s, NULL, name, id, what, try);
	forget(s);
}

static void test_closed(void)
{
	struct snapshot *s = window();

	closed("nobody reads here", SOCKMEM_RECEIVE, 12, "tcp-not-read",
	       "a program does not read, or only slowly, what 192.0.2.1 port 40001 sends: its "
	       "receive window has been closed for 12 s", "ss -tnmp src :8000");
	closed("nobody reads there", SOCKMEM_SEND, 5, "tcp-peer-not-read",
	       "192.0.2.1 port 40001 does not read, or only slowly, what a program sends: data has "
	       "waited for its window for 5 s", "at 192.0.2.1: ss -tnmp dst :8000");
	closed("not for less than five seconds", SOCKMEM_RECEIVE, 4, NULL, NULL, NULL);
	closed("nor there", SOCKMEM_SEND, 4, NULL, NULL, NULL);
	connected(s, SOCKMEM_RECEIVE, 1000);
	for (unsigned i = 1; i < 5; i++)
		shut(s, SOCKMEM_RECEIVE, i, i == 3 ? 60 : 6);
	finds(s, NULL, "of several the one that is closed longest", "tcp-not-read",
	      "what 192.0.2.3 port 40003 sends: its receive window has been closed for 60 s, and "
	      "so it is with 3 others", NULL);
	for (unsigned i = 5; i < 40; i++) {
		shut(s, SOCKMEM_RECEIVE, i, 6);
		shut(s, SOCKMEM_SEND, i, 1);
		shut(s, SOCKMEM_SEND, i + 100, 1);
	}
	finds(s, NULL, "where only some have a row", "tcp-not-read", "with at least 38 others",
	      NULL);
	forget(s);
	s = window();
	connected(s, SOCKMEM_SEND, 1001);
	for (unsigned i = 1; i < 3; i++)
		shut(s, SOCKMEM_SEND, i, 6);
	finds(s, NULL, "where only some are asked", "tcp-peer-not-read", "with at least 1 other",
	      NULL);
	forget(s);
}

static struct dnsname *typed(struct snapshot *s, unsigned type, enum dnsname_what what,
			     const char *name)
{
	struct dnsname_key key = { .type = type, .what = what };
	unsigned at = 0;

	while (*name) {
		key.name[at] = strcspn(name, ".");
		memcpy(key.name + at + 1, name, key.name[at]);
		name += key.name[at] + (name[key.name[at]] == '.');
		at += key.name[at] + 1;
	}
	return row(s, METER_dnsname, &key);
}

/* By address: that of IPv4. */
static struct dnsname *named(struct snapshot *s, enum dnsname_what what, const char *name)
{
	return typed(s, 1, what, name);
}

static void answered_as(struct snapshot *s, unsigned type, const char *name, enum dns_answer code,
			unsigned nr)
{
	struct dnsname *d = typed(s, type, DNSNAME_WHOLE, name);

	spans(&meter_dnsname, "latency", d, nr, .001);
	d->asked = d->answers[code] = nr;
}

/* A name that does not exist is asked for by both types, of which the other here has no answers for
 * names that exist. */
static void answered(struct snapshot *s, const char *name, enum dns_answer code, unsigned nr)
{
	answered_as(s, 1, name, code, nr);
	if (code == DNS_NXDOMAIN)
		answered_as(s, 28, name, code, nr);
}

/* Twenty answers for nothing are enough, if they are half as many as the others. */
static void searched(const char *name, const char *as, const char *in, unsigned found,
		     unsigned missing, const char *says)
{
	struct snapshot *s = window();

	answered(s, as, DNS_OK, found);
	answered(s, in, DNS_NXDOMAIN, missing);
	answered(s, "is.not.there.com", DNS_NXDOMAIN, 500);
	finds(s, NULL, name, says ? "dns-search" : NULL, says, says ? "ndots:2" : NULL);
	forget(s);
}

static void test_searched(void)
{
	struct snapshot *s = window();

	searched("a name in a search domain", "a.com", "a.com.x.local", 40, 20,
		 "20 queries asked for names in search domains, where they do not exist, for 40 "
		 "answers with records: a.com.x.local");
	searched("in one of one label", "www.a.com", "www.a.com.lan", 20, 20, "www.a.com.lan");
	searched("too few for nothing", "a.com", "a.com.x.local", 19, 19, NULL);
	searched("a smaller part", "a.com", "a.com.x.local", 42, 20, NULL);
	searched("a name of one label", "a", "a.x.local", 20, 20, NULL);
	searched("another name", "a.com", "aa.com.x.local", 20, 20, NULL);
	searched("a name that begins likewise", "a.com", "a.comx.local", 20, 20, NULL);
	answered(s, "a.com", DNS_OK, 30);
	answered(s, "a.com.x.local", DNS_NXDOMAIN, 30);
	answered(s, "a.com.y.x.local", DNS_NXDOMAIN, 31);
	answered(s, "b.a.com", DNS_OK, 10);
	answered(s, "b.a.com.x.local", DNS_NXDOMAIN, 10);
	finds(s, NULL, "several", "dns-search", "71 queries asked for names in search domains, "
	      "where they do not exist, for 40 answers with records: a.com.y.x.local", NULL);
	forget(s);
	s = window();
	answered(s, "a.com", DNS_OK, 30);
	answered(s, "a.com.x.local", DNS_NXDOMAIN, 30);
	((struct dnsname *)s->tables[METER_dnsname].cells)->empty = 30;
	finds(s, NULL, "a name without records", NULL, NULL, NULL);
	forget(s);
	s = window();
	answered(s, "mail.a.com", DNS_OK, 30);
	answered_as(s, 1, "mail.a.com.dbl.list.org", DNS_NXDOMAIN, 30);
	answered_as(s, 16, "mail.a.com.x.local", DNS_NXDOMAIN, 30);
	answered_as(s, 28, "other.com.dbl.list.org", DNS_NXDOMAIN, 30);
	finds(s, NULL, "a block list, which is asked for one type", NULL, NULL, NULL);
	forget(s);
	s = window();
	named(s, DNSNAME_CUT, "a.com")->answers[DNS_OK] = 30;
	answered(s, "a.com.x.local", DNS_NXDOMAIN, 30);
	finds(s, NULL, "a name that is cut", NULL, NULL, NULL);
	forget(s);
}

/* 23 queries, 20 answers, 4 of them without what was asked for. */
static void test_fails(void)
{
	struct snapshot *s = window();
	struct dns *d = row(s, METER_dns, &(struct asker_key){ host(53), "curl" });

	d->asked = 23;
	d->answers[DNS_OK] = 16;
	d->answers[DNS_SERVFAIL] = 3;
	d->answers[DNS_REFUSED] = 1;
	finds(s, NULL, "a share of what was answered", "dns-fails", "192.0.2.53 failed or refused "
	      "4 of the 20 queries of curl that were answered", "the log of 192.0.2.53");
	forget(s);
}

int main(void)
{
	test_fails();
	test_searched();
	test_held();
	test_longest();
	test_paced();
	test_others();
	test_closed();
	return failed > 0;
}
