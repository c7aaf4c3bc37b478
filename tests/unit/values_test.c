/* SPDX-License-Identifier: GPL-2.0 */
/* Values of fields, as text and from text. */
#include "lib/kernel/reasons.h"
#include "lib/util/error.h"
#include "probes/probe.h"

#define SUBJECT "values "
#include "check.h"

static struct probe_event event;

static const char *shown(const char *field)
{
	static char value[96];
	const struct field *f = field_find(field);

	field_text(f, (char *)&event + f->offset, value, sizeof(value));
	return value;
}

/* What is parsed, put where the field is, is shown so. */
static void there_and_back(const char *field, const char *value, const char *again)
{
	const struct field *f = field_find(field);
	struct error e = {};
	struct term t;

	memset(&event, 0, sizeof(event));
	if (!check(!field_parse(f, value, &t, &e), text("%s %s", field, value), e.what))
		return;
	memcpy((char *)&event + f->offset, t.val, f->size);
	same_text(text("%s %s again", field, value), shown(field), again);
	same(text("%s %s, offset", field, value), t.offset, f->offset);
}

static void refused(const char *field, const char *value, const char *what, const char *try)
{
	struct error e = {};
	struct term t;

	if (!check(field_parse(field_find(field), value, &t, &e) < 0, text("%s %s", field, value),
		   "it is taken"))
		return;
	same_text(text("%s %s, why not", field, value), e.what, what);
	same_text(text("%s %s, instead", field, value), e.try, try);
}

static void masks(void)
{
	static const __u8 net[16] = { [10] = 0xff, 0xff, 10, 1 },
			  all[14] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
				      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	struct term t;

	holds(!field_parse(field_find("ip_saddr"), "10.1.2.3/16", &t, NULL) &&
	      !memcmp(t.val, net, 16) && !memcmp(t.mask, all, 14) && t.mask[1] >> 48 == 0 &&
	      t.size == 16, "10.1.2.3/16 is the network, mapped");
	holds(!field_parse(field_find("ip_saddr"), "fd00::1/9", &t, NULL) &&
	      t.mask[0] == 0x80ff && t.mask[1] == 0 && t.val[0] == 0xfd, "a mask within a byte");
	holds(!field_parse(field_find("ip_saddr"), "::/0", &t, NULL) && !t.mask[0] && !t.mask[1],
	      "a mask of nothing");
	holds(!field_parse(field_find("execname"), "sshd", &t, NULL) &&
	      t.mask[0] == 0xffffffffff && !t.mask[1], "a string is compared with its end");
	holds(!field_parse(field_find("eth_src"), "02:00:00:00:00:0a", &t, NULL) && t.size == 8 &&
		      t.mask[0] == 0xffffffffffff && t.val[0] == 0x0a0000000002,
	      "a MAC address is six bytes");
	holds(!field_parse(field_find("so_ret"), "-111", &t, NULL) && t.is_signed &&
	      (__s64)t.val[0] == -111 && t.size == 8, "below 0");
	holds(!field_parse(field_find("rc"), "ENOBUFS", &t, NULL) && (__s64)t.val[0] == -105,
	      "an error as functions return it");
	holds(!field_parse(field_find("errno"), "ENOBUFS", &t, NULL) && t.val[0] == 105,
	      "and as errno has it");
}

static void reasons(void)
{
	const char *first = drop_reason_core(3);
	struct term t;

	if (!first) {
		puts("skip values reasons: this kernel has no names of drop reasons");
		return;
	}
	holds(!field_parse(field_find("drop_reason"), first, &t, NULL) && t.val[0] == 3,
	      "a reason of this kernel");
	holds(!field_parse(field_find("drop_reason"), text("SKB_DROP_REASON_%s", first), &t,
			   NULL) &&
		      t.val[0] == 3,
	      "its long name");
	refused("drop_reason", "NO_SUCH_THING_AT_ALL_HERE",
		"\"NO_SUCH_THING_AT_ALL_HERE\" is no "
		"value of drop_reason, which takes the name of a reason of this kernel: NO_SOCKET",
		"");
}

static void shown_only(void)
{
	memset(&event, 0, sizeof(event));
	same_text("no flags", shown("tcp_flags"), "0");
	same_text("no error", shown("errno"), "0");
	event.rc = 16;
	same_text("returned above 0", shown("rc"), "16");
	event.tcps_state = 77;
	same_text("a state without name", shown("tcps_state"), "77");
	event.eth_type = 0x1234;
	same_text("a protocol without name", shown("eth_type"), "0x1234");
	memset(event.execname, 'x', sizeof(event.execname));
	same_text("a string without end", shown("execname"), "xxxxxxxxxxxxxxxx");
	event.probe = 999;
	same_text("no probe", shown("probename"), "999");
}

int main(void)
{
	there_and_back("tcp_dport", "80", "80");
	there_and_back("tcp_dport", "0x50", "80");
	there_and_back("tcp_dport", "65535", "65535");
	there_and_back("timestamp", "18446744073709551615", "18446744073709551615");
	there_and_back("so_ret", "-9223372036854775808", "-9223372036854775808");
	there_and_back("rc", "-12", "ENOMEM");
	there_and_back("ip_saddr", "10.0.0.1", "10.0.0.1");
	there_and_back("ip_saddr", "fd00::1", "fd00::1");
	there_and_back("ip_saddr", "::1", "::1");
	there_and_back("eth_dst", "02:0A:00:00:00:01", "02:0a:00:00:00:01");
	there_and_back("execname", "python3", "python3");
	there_and_back("tcp_flags", "SYN|ACK", "SYN|ACK");
	there_and_back("tcp_flags", "TH_SYN", "SYN");
	there_and_back("tcp_flags", "0x12", "SYN|ACK");
	there_and_back("tcps_state", "state-syn-sent", "syn-sent");
	there_and_back("tcps_state", "TCP_STATE_SYN_SENT", "syn-sent");
	there_and_back("tcps_state", "established", "established");
	there_and_back("tcps_state", "1", "established");
	there_and_back("ipv4_protocol", "IPPROTO_TCP", "tcp");
	there_and_back("ipv4_protocol", "17", "udp");
	there_and_back("ipv6_nexthdr", "icmpv6", "ipv6-icmp");
	there_and_back("so_family", "AF_INET6", "inet6");
	there_and_back("so_type", "dgram", "dgram");
	there_and_back("pkt_proto", "0x0806", "arp");
	there_and_back("sk_err", "ECONNREFUSED", "ECONNREFUSED");
	there_and_back("probefunc", "sendto", "sendto");
	there_and_back("probename", "tcp:::accept-refused", "tcp:::accept-refused");
	there_and_back("pkt_addr", "0xffff888000000000", "0xffff888000000000");
	refused("tcp_dport", "http", "\"http\" is no value of tcp_dport, which takes a number", "");
	refused("tcp_dport", "65536", "tcp_dport is at most 65535: 65536", "");
	refused("tcp_dport", "-1", "tcp_dport is never below 0: -1", "");
	refused("rc", "2147483648", "rc is at most 2147483647: 2147483648", "");
	refused("tcp_dport", "8 0", "\"8 0\" is no value of tcp_dport, which takes a number", "");
	refused("tcps_state", "establised",
		"\"establised\" is no value of tcps_state, which takes a state: syn-sent, "
		"established",
		"established");
	refused("tcp_flags", "SYN|",
		"\"SYN|\" is no value of tcp_flags, which takes flags: SYN, SYN|ACK", "SYN");
	refused("ip_saddr", "10.0.0.0/33",
		"\"10.0.0.0/33\" is no value of ip_saddr, which takes a mask of 0 to 32 bits", "");
	refused("ip_saddr", "10.0.0", "\"10.0.0\" is no value of ip_saddr, which takes an address: "
		"10.0.0.1, fd00::1, or with a mask 10.0.0.0/8", "");
	refused("eth_src", "02:00:00:00:00",
		"\"02:00:00:00:00\" is no value of eth_src, which takes an "
		"address like 02:00:00:00:00:01",
		"");
	refused("execname", "a-name-of-sixteen",
		"\"a-name-of-sixteen\" is no value of execname, which "
		"takes 1 to 15 characters",
		"");
	refused("probefunc", "sendtoo",
		"\"sendtoo\" is no value of probefunc, which takes a system "
		"call: sendto",
		"sendto");
	masks();
	reasons();
	shown_only();
	return failed > 0;
}
