/* SPDX-License-Identifier: GPL-2.0 */
/* Generates nicprobe-findings(7) from the table of findings, so that the two always agree. */
#include <stdbool.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/explain.h"
#include "cmd/man.h"
#include "findings/subjects.h"
#include "lib/util/log.h"

#define MAX_SYMPTOMS 128

static const char head[] =
".\\\" SPDX-License-Identifier: GPL-2.0\n"
".\\\" Made by nicprobe explain --man from findings/. Do not edit.\n"
".Dd November 22, 2026\n"
".Dt NICPROBE-FINDINGS 7\n"
".Os\n"
".Sh NAME\n"
".Nm nicprobe-findings\n"
".Nd problems that nicprobe finds on network interfaces, and their remedies\n"
".Sh DESCRIPTION\n"
"A finding reports a problem of an interface that\n"
".Xr nicprobe 8\n"
"measures, with its harm and its remedy.\n"
"It applies to the window that is shown: the last second, unless\n"
".Fl w ,\n"
".Fl i\n"
"or\n"
".Fl t\n"
"select another one.\n"
"The harm is present or imminent;\n"
"an interface without findings has no known problem.\n"
".Pp\n"
"Problems that have ended are no longer findings.\n"
"For packets dropped by the stack, a qdisc, tc, a cgroup or netfilter,\n"
"a line that begins with\n"
".Cm earlier\n"
"has the number of packets since attach, and the time of the last second in which\n"
"one CPU dropped as many packets as the finding requires.\n"
"Drops at a lower rate have no such line, and drops spread over many CPUs may\n"
"have none; their share of the packets is no longer known.\n"
"The meter\n"
".Cm drop\n"
"keeps these records; attach resets them.\n"
"Other findings have no such line: counters of the card, the driver and the\n"
"kernel have no timestamps, and waits, shares and loads are only kept as sums.\n"
".Pp\n"
"Each finding has an id that stays the same in all versions, a severity,\n"
"and a harm with a unit:\n"
".Bl -tag -width critical\n"
".It Cm critical\n"
"Wanted packets are lost, or no packets flow.\n"
".It Cm warning\n"
"It costs time, or packet loss is imminent.\n"
".It Cm info\n"
"It may be intended, or it limits what nicprobe can measure.\n"
".El\n"
".Pp\n"
"Findings that follow from another finding are listed beneath it:\n"
"fix that one first.\n"
"Commands are suggested, never run.\n";

static const char tail[] =
".Sh SEE ALSO\n"
".Xr nicprobe-json 5 ,\n"
".Xr nicprobe-host 7 ,\n"
".Xr nicprobe-meters 7 ,\n"
".Xr nicprobe-probes 7 ,\n"
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

static void item(FILE *out, const struct finding_kind *k, const char *name, const char *words)
{
	char filled[1000];

	if (!words)
		return;
	kind_text(k, words, filled, sizeof(filled));
	fprintf(out, ".It \"%s\"\n", name);
	man_put(out, filled);
}

static void one(FILE *out, const struct finding_kind *k)
{
	fprintf(out, ".Ss %s\n", k->id);
	man_put(out, text("%s (%s; harm in %s).", k->title, severity_names[k->severity],
			  harm_units[k->harm]));
	fprintf(out, ".Pp\n");
	man_put(out, k->means);
	fprintf(out, ".Bl -tag -width Ds\n");
	item(out, k, "reported if", k->when);
	item(out, k, "not reported for", k->silent);
	item(out, k, "remedy", k->remedy);
	if (k->follows[0]) {
		fprintf(out, ".It \"follows from\"\n");
		for (unsigned i = 0; i < MAX_CAUSES && k->follows[i]; i++)
			fprintf(out, "%s%s", k->follows[i], i + 1 < MAX_CAUSES &&
				k->follows[i + 1] ? ",\n" : "\n");
	}
	fprintf(out, ".El\n");
}

/* "rx-ring-near, setup-short-ring" */
static const char *behind(const struct subject *const *s, const char *symptom)
{
	const char *all = "";

	for (; *s; s++)
		for (unsigned i = 0; (*s)->kind(i); i++)
			if (!strcmp((*s)->kind(i)->symptom, symptom))
				all = text("%s%s%s", all, *all ? ", " : "", (*s)->kind(i)->id);
	return all;
}

/* Each symptom once, with the findings that may cause it. */
static void symptoms(FILE *out)
{
	const char *told[MAX_SYMPTOMS];
	unsigned nr = 0;

	fprintf(out, ".Sh TROUBLESHOOTING\nSymptoms, and the findings that may explain them.\n"
		".Bl -tag -width Ds\n");
	for (const struct subject *const *s = subjects; *s; s++)
		for (unsigned i = 0; (*s)->kind(i); i++) {
			const char *symptom = (*s)->kind(i)->symptom;
			unsigned k = 0;

			while (k < nr && strcmp(told[k], symptom))
				k++;
			if (k < nr || nr == MAX_SYMPTOMS)
				continue;
			told[nr++] = symptom;
			fprintf(out, ".It \"%s\"\n", symptom);
			man_put(out, behind(s, symptom));
		}
	fprintf(out, ".El\n");
}

void explain_man(FILE *out)
{
	fputs(head, out);
	symptoms(out);
	for (const struct subject *const *s = subjects; *s; s++) {
		fprintf(out, ".Sh ");
		for (const char *c = (*s)->title; *c; c++)
			fputc(*c >= 'a' && *c <= 'z' ? *c - 32 : *c, out);
		fputc('\n', out);
		for (unsigned i = 0; (*s)->kind(i); i++)
			one(out, (*s)->kind(i));
	}
	fputs(tail, out);
}
