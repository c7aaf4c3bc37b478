/* SPDX-License-Identifier: GPL-2.0 */
/* The layout of events, on which programs rely: tests/golden/event.txt. "print": as it is. */
#include <stdlib.h>

#include "lib/util/near.h"
#include "probes/probe.h"
#include "probes/raw.h"

#define SUBJECT "event "
#include "check.h"

#define GOLDEN "tests/golden/event.txt"

static const char *const group_names[] = {
#define G(name) #name,
	EVENT_GROUPS(G)
#undef G
};

static void layout_print(FILE *f)
{
	fprintf(f, "# field offset size group\n");
	for (const struct field *i = fields; i->name; i++)
		fprintf(f, "%s %u %u %s%s\n", i->name, i->offset, i->size, group_names[i->group],
			i->is_signed ? " signed" : "");
	for (int g = 0; g < NR_GROUPS; g++)
		fprintf(f, "group %s %d\n", group_names[g], g);
	for (int p = 0; p < NR_STABLE_PROBES; p++)
		fprintf(f, "probe %s %d\n", probe_name(p), p);
}

static char *read_all(FILE *f)
{
	static char golden[65536];
	size_t n = f ? fread(golden, 1, sizeof(golden) - 1, f) : 0;

	golden[n] = 0;
	if (f)
		fclose(f);
	return golden;
}

static void layout_golden(void)
{
	char *now = NULL, *then = read_all(fopen(GOLDEN, "re"));
	size_t size;
	FILE *f = open_memstream(&now, &size);

	layout_print(f);
	fclose(f);
	check(!strcmp(now, then), "the layout is that of " GOLDEN,
	      "it differs: see event_test print; recordings rely on the old one");
	free(now);
}

static bool member(const char *of)
{
	for (int p = 0; p < NR_STABLE_PROBES; p++)
		for (unsigned i = 0; i < PROBE_ARGS; i++)
			if (stable_probes[p].args[i] && !strcmp(stable_probes[p].args[i], of))
				return true;
	return false;
}

static void fields_agree(void)
{
	bool twice = false, odd = false, stray = false;

	for (const struct field *f = fields; f->name; f++) {
		twice |= field_find(f->name) != f;
		odd |= f->offset + f->size > (int)sizeof(struct probe_event) ||
		       f->offset % (f->size == 6 ? 2 : f->size > 8 ? 8 : f->size);
		stray |= f->of && !member(f->of);
		must(f->help && *f->help, f->name, "it has no description");
	}
	holds(!twice, "every name is found, and is one of a kind");
	holds(!odd, "every field is aligned, and lies in the event");
	holds(!stray, "every struct is an argument of some probe");
	holds(field_find("comm") == field_find("execname"), "other names lead to the same field");
	holds(!field_find("tcp_dpord") && !field_find(""), "what is no field is not found");
	same_text("type of a port", field_type(field_find("tcp_dport")), "uint16_t");
	same_text("type of a returned value", field_type(field_find("so_ret")), "int64_t");
	same_text("type of a name", field_type(field_find("execname")), "string");
	holds(field_is_number(field_find("so_ret")) && !field_is_number(field_find("tcps_state")),
	      "numbers are told from names");
}

static void probes_agree(void)
{
	char function[64];

	for (int p = 0; p < NR_STABLE_PROBES; p++) {
		must(stable_probes[p].provider && stable_probes[p].help && stable_probes[p].columns,
		     text("probe %d", p), "it is not described");
		must(raw_has(probe_bit(p)) ||
		     probes_match(probe_name(p), function) == probe_bit(p), probe_name(p),
		     "its name does not lead to it");
		must(strlen(probe_name(p)) < NEAR_SIZE, probe_name(p), "it is too long to be near");
	}
	holds(probes_match("tcp:::accept-*", function) ==
	      (1ull << PROBE_tcp_accept_established | 1ull << PROBE_tcp_accept_refused), "globs");
	holds(__builtin_popcountll(probes_match("udp:::", function)) == 3, "an empty name is any");
	holds(probes_match("gld:::send", function) == 1ull << PROBE_nic_tx_start &&
	      probes_match("gld:::receive", function) == 1ull << PROBE_nic_rx_packet, "gld:::");
	holds(probes_match("syscall::accept*:entry", function) == 1ull << PROBE_syscall_entry,
	      "calls");
	same_text("their function", function, "accept*");
	holds(!probes_match("syscall::nosuchcall:entry", function), "a call that is not");
	holds(!probes_match("tcp::tcp_v4_rcv:send", function) &&
		      !probes_match("tcp:ip::send", function),
	      "modules and functions of the stable probes are not named");
	holds(!probes_match("tcp", function) && !probes_match("tcp:::send:", function) &&
	      !probes_match("", function), "a pattern has four parts");
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "print")) {
		layout_print(stdout);
		return 0;
	}
	layout_golden();
	fields_agree();
	probes_agree();
	return failed > 0;
}
