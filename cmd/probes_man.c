/* SPDX-License-Identifier: GPL-2.0 */
/* Generates nicprobe-probes(7) from the tables of probes, so that the two always agree. */
#include <string.h>

#include "cmd/describe.h"
#include "cmd/man.h"
#include "lib/util/log.h"
#include "probes/probe.h"

static const char head[] =
".\\\" SPDX-License-Identifier: GPL-2.0\n"
".\\\" Made by nicprobe list --man from probes/. Do not edit.\n"
".Dd November 25, 2026\n"
".Dt NICPROBE-PROBES 7\n"
".Os\n"
".Sh NAME\n"
".Nm nicprobe-probes\n"
".Nd stable probes from the network card to the socket\n"
".Sh DESCRIPTION\n"
"A probe is a moment at which something happens to a packet, a connection or a\n"
"socket.\n"
".Xr nicprobe-trace 8\n"
"counts, measures and prints the events of probes.\n"
".Pp\n"
"In the terms of DTrace the names of probes and of their arguments are Evolving,\n"
"and their dependency class is ISA: they change only with a new major version.\n"
"Where the kernel shows an event is no part of that, and differs between kernels.\n"
"So each probe has one source or several.\n"
".Nm nicprobe Cm trace\n"
"takes the first that this kernel has and that tells what is asked for.\n"
"A source is\n"
".Bl -tag -width Ds -compact\n"
".It exact\n"
"if each event is seen once, as the probe is described,\n"
".It near\n"
"if that is not so in some cases, which are then named,\n"
".It counts too much\n"
"if it shows more events than the probe has,\n"
".It misses some\n"
"if it does not show all of them.\n"
".El\n"
".Pp\n"
".Nm nicprobe Cm list Fl v Ar probe\n"
"tells which sources and fields this kernel has.\n";

static const char tail[] =
".Sh SEE ALSO\n"
".Xr nicprobe-json 5 ,\n"
".Xr nicprobe-findings 7 ,\n"
".Xr nicprobe-host 7 ,\n"
".Xr nicprobe-meters 7 ,\n"
".Xr nicprobe-units 7 ,\n"
".Xr nicprobe 8 ,\n"
".Xr nicprobe-bench 8 ,\n"
".Xr nicprobe-doctor 8 ,\n"
".Xr nicprobe-driver 8 ,\n"
".Xr nicprobe-record 8 ,\n"
".Xr nicprobe-report 8 ,\n"
".Xr nicprobe-serve 8 ,\n"
".Xr nicprobe-top 8 ,\n"
".Xr nicprobe-trace 8\n";

static const char *const providers[] = {
	"nic", "arp", "icmp", "ip", "tcp", "udp", "sctp", "socket", "syscall", "fbt", "sdt", NULL
};

static void args_print(FILE *out, const struct stable *s)
{
	const char *list = "";

	for (unsigned i = 0; i < PROBE_ARGS; i++)
		if (s->args[i])
			list = text("%s%sargs[%u] %s", list, *list ? ", " : "", i, s->args[i]);
	if (*list) {
		fputs(".Pp\n", out);
		man_put(out, text("Arguments: %s.", list));
	}
}

static void sources_print(FILE *out, enum stable_probe p)
{
	fputs(".Pp\nSources:\n.Bl -bullet -compact\n", out);
	for (const struct serving *s = servings; s->probe != NR_STABLE_PROBES; s++) {
		if (s->probe != p)
			continue;
		fputs(".It\n", out);
		man_put(out, text("%s: %s.%s%s", source_name(s->source), grade_names[s->grade],
				  s->note ? " " : "", s->note ?: ""));
	}
	fputs(".El\n", out);
}

static void provider_print(FILE *out, const char *provider)
{
	fprintf(out, ".Ss %s\n.Bl -tag -width Ds\n", provider);
	for (int p = 0; p < NR_STABLE_PROBES; p++) {
		if (strcmp(stable_probes[p].provider, provider))
			continue;
		fprintf(out, ".It Cm %s\n", probe_name(p));
		man_put(out, stable_probes[p].help);
		args_print(out, &stable_probes[p]);
		sources_print(out, p);
	}
	fputs(".El\n", out);
}

/* The fields of a struct; NULL: those of every event. */
static void fields_print(FILE *out, const char *of)
{
	fprintf(out, ".Ss %s\n.Bl -tag -width Ds -compact\n", of ?: "Of every event");
	for (const struct field *f = fields; f->name; f++) {
		if (!f->of != !of || (of && strcmp(f->of, of)))
			continue;
		fprintf(out, ".It Cm %s Pq %s\n", f->name, field_type(f));
		man_put(out, f->unit ? text("%s, in %s.", f->help, f->unit) : text("%s.", f->help));
	}
	fputs(".El\n", out);
}

void probes_man(FILE *out)
{
	fputs(head, out);
	fputs(".Sh PROBES\n", out);
	for (const char *const *p = providers; *p; p++)
		provider_print(out, *p);
	fputs(".Sh ARGUMENTS AND FIELDS\nA field is named alone, as in\n.Cm ip_saddr ,\n"
	      "or by its argument, as in\n.Cm args[2]->ip_saddr .\n", out);
	fields_print(out, NULL);
	for (const struct field *f = fields; f->name; f++) {
		bool first = f->of;

		for (const struct field *before = fields; before < f && first; before++)
			first = !before->of || strcmp(before->of, f->of);
		if (first)
			fields_print(out, f->of);
	}
	fputs(tail, out);
}
