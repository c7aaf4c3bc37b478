/* SPDX-License-Identifier: GPL-2.0 */
/* Generates nicprobe-findings(7) from the table of findings, so that the two always agree. */
#include <stdbool.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/explain.h"
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
".Nd what nicprobe finds wrong with a network interface, and what helps\n"
".Sh DESCRIPTION\n"
"A finding is a sentence that\n"
".Xr nicprobe 8\n"
"says of an interface that it measures, with what it costs and what helps.\n"
"It is about the window that is shown: the last second, unless\n"
".Fl w ,\n"
".Fl i\n"
"or\n"
".Fl t\n"
"say otherwise.\n"
"It names a harm, or one that is near;\n"
"an interface of which nothing is said is well.\n"
".Pp\n"
"What is over is not found any more.\n"
"Of what the stack, a qdisc, tc, a cgroup or netfilter dropped a window says\n"
"when it last was, in a line that begins with\n"
".Cm earlier :\n"
"how many packets there were since attach, and the last second in which one CPU\n"
"dropped as many as the finding asks for.\n"
"What never came so fast is not told, and a loss that many CPUs share may not be;\n"
"what share of the packets it was nobody knows any more.\n"
"The meter\n"
".Cm drop\n"
"remembers it; attach begins anew.\n"
"Other findings have no earlier: counters of the card, the driver and the kernel\n"
"have no clock, and of waits, shares and loads sums are kept, not when each part\n"
"of them came.\n"
".Pp\n"
"Each has an id that stays the same over all versions, a severity,\n"
"and a harm in a unit of its own:\n"
".Bl -tag -width critical\n"
".It Cm critical\n"
"Packets that somebody wanted are lost, or none flow.\n"
".It Cm warning\n"
"It costs time, or loss is near.\n"
".It Cm info\n"
"Somebody meant it, or it limits what nicprobe can tell.\n"
".El\n"
".Pp\n"
"What follows from another finding is told beneath it: mend the first.\n"
"Commands are told, never run.\n";

static const char tail[] =
".Sh SEE ALSO\n"
".Xr nicprobe 8\n";

#define LINE 78	/* columns of the source */

/* Escapes backslashes, and a dot or quote that would make the line a macro. */
static unsigned put_word(FILE *out, const char *word, size_t len, bool first)
{
	unsigned at = 0;

	if (first && (*word == '.' || *word == '\''))
		at += fprintf(out, "\\&");
	for (; len--; word++)
		at += fprintf(out, *word == '\\' ? "\\e" : "%c", *word);
	return at;
}

/* One sentence per line, wrapped at LINE columns. */
static void put(FILE *out, const char *words)
{
	unsigned at = 0;

	while (*words) {
		size_t len = strcspn(words, " ");

		if (at && at + 1 + len > LINE) {
			fputc('\n', out);
			at = 0;
		}
		if (at)
			at += fprintf(out, " ");
		at += put_word(out, words, len, !at);
		if (len && words[len - 1] == '.' && words[len]) {
			fputc('\n', out);
			at = 0;
		}
		words += len + (words[len] == ' ');
	}
	if (at)
		fputc('\n', out);
}

static void item(FILE *out, const struct finding_kind *k, const char *name, const char *words)
{
	char filled[1000];

	if (!words)
		return;
	kind_text(k, words, filled, sizeof(filled));
	fprintf(out, ".It \"%s\"\n", name);
	put(out, filled);
}

static void one(FILE *out, const struct finding_kind *k)
{
	fprintf(out, ".Ss %s\n", k->id);
	put(out, text("%s (%s; harm in %s).", k->title, severity_names[k->severity],
		      harm_units[k->harm]));
	fprintf(out, ".Pp\n");
	put(out, k->means);
	fprintf(out, ".Bl -tag -width Ds\n");
	item(out, k, "speaks if", k->when);
	item(out, k, "does not speak of", k->silent);
	item(out, k, "helps", k->remedy);
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

	fprintf(out, ".Sh TROUBLESHOOTING\nWhat is noticed first, and what may be behind it.\n"
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
			put(out, behind(s, symptom));
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
