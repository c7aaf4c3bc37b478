/* SPDX-License-Identifier: GPL-2.0 */
/* The meter dnsname: which names are asked for, and what comes of it. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "bpf/dnsname/dnsname.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"

static const struct metric metrics[] = {
	COUNTER(struct dnsname, asked, .name = "asked", .unit = "queries",
		.help = "Queries sent; one that is sent again from the same port counts once."),
	LEVEL(struct dnsname, unanswered, .name = "unanswered", .unit = "queries",
	      .help = "Queries of the last ten seconds that have no answer after two."),
	COUNTER(struct dnsname, again, .name = "again", .unit = "queries", .rare = true,
		.help = "Queries sent again from the same port, as no answer came."),
	COUNTER(struct dnsname, answers, .name = "answers", .unit = "answers",
		.help = "First answers by their response code.", .label = "code",
		.labels = LABELS(struct dnsname, answers, dns_answer_names), .rare = true),
	COUNTER(struct dnsname, empty, .name = "empty", .unit = "answers", .rare = true,
		.help = "Of the answers \"ok\": the name has no record of this type."),
	COUNTER(struct dnsname, truncated, .name = "truncated", .unit = "answers", .rare = true,
		.help = "Of the answers: too long for a datagram; who asks asks again by TCP."),
	COUNTER(struct dnsname, unread, .name = "unread", .unit = "queries", .rare = true,
		.help = "Queries of which the name could not be read."),
	HISTOGRAM(struct dnsname, latency, .name = "latency", .unit = "seconds", .scale = 1e-9,
		  .help = "From the query to its first answer."),
	{}
};

/* Those that are asked for (IANA's registry of RR TYPEs). */
static const struct {
	unsigned nr;
	const char *name;
} types[] = {
	{ 1, "A" }, { 2, "NS" }, { 5, "CNAME" }, { 6, "SOA" }, { 12, "PTR" }, { 13, "HINFO" },
	{ 15, "MX" }, { 16, "TXT" }, { 28, "AAAA" }, { 29, "LOC" }, { 33, "SRV" }, { 35, "NAPTR" },
	{ 39, "DNAME" }, { 43, "DS" }, { 44, "SSHFP" }, { 46, "RRSIG" }, { 47, "NSEC" },
	{ 48, "DNSKEY" }, { 50, "NSEC3" }, { 51, "NSEC3PARAM" }, { 52, "TLSA" }, { 53, "SMIMEA" },
	{ 59, "CDS" }, { 60, "CDNSKEY" }, { 61, "OPENPGPKEY" }, { 64, "SVCB" }, { 65, "HTTPS" },
	{ 99, "SPF" }, { 251, "IXFR" }, { 252, "AXFR" }, { 255, "ANY" }, { 256, "URI" },
	{ 257, "CAA" },
};

static void type_text(unsigned type, char *text, size_t size)
{
	for (unsigned i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (types[i].nr == type) {
			snprintf(text, size, "%s", types[i].name);
			return;
		}
	snprintf(text, size, "TYPE%u", type);	/* RFC 3597 */
}

static void byte_put(FILE *out, __u8 c)
{
	if (c <= ' ' || c > '~')
		fprintf(out, "\\%03u", c);
	else
		fprintf(out, strchr("\"$().;@\\", c) ? "\\%c" : "%c", c);
}

/* A name that begins with a star is told from all below its domain. */
static void labels_put(FILE *out, const struct dnsname_key *key)
{
	unsigned at = 0, len;

	if (key->what == DNSNAME_WHOLE && key->name[0] == 1 && key->name[1] == '*')
		fputc('\\', out);
	for (; at < DNSNAME_BYTES && (len = key->name[at]); at += len + 1) {
		if (at)
			fputc('.', out);
		for (unsigned i = at + 1; i <= at + len && i < DNSNAME_BYTES; i++)
			byte_put(out, key->name[i]);
	}
	if (!at)
		fputc('.', out);
}

void dnsname_text(const struct dnsname_key *key, char *text, size_t size)
{
	static const char *const before[] = {
		[DNSNAME_WHOLE] = "", [DNSNAME_CUT] = "...", [DNSNAME_ALL_BELOW] = "*.",
	};
	FILE *out;

	*text = '\0';
	if (key->what == DNSNAME_OTHERS || key->what > DNSNAME_ALL_BELOW) {
		snprintf(text, size, REMOTE_OTHERS);
		return;
	}
	out = fmemopen(text, size, "w");
	if (!out)
		return;
	fputs(before[key->what], out);
	labels_put(out, key);
	fclose(out);
	text[size - 1] = '\0';
}

enum label { DOMAIN, TYPE };
static const char *const labels[] = { "domain", "type", NULL };

static void key_words(const void *of, unsigned nr, char *out, size_t size)
{
	const struct dnsname_key *key = of;

	if (nr == DOMAIN)
		dnsname_text(key, out, size);
	else if (key->what == DNSNAME_OTHERS)
		snprintf(out, size, "-");
	else
		type_text(key->type, out, size);
}

static int fill(const struct site *site, struct bpf_object *obj)
{
	(void)site;
	return remotes_reserve(obj, "dnsname", &(struct dnsname_key){}, 1);
}

static bool key_of(const struct roundtrip *of, const struct roundtrip_state *asked, void *key)
{
	const struct dnsname_question *q = (const void *)asked;

	(void)of;
	memcpy(key, &q->key, sizeof(q->key));
	return false;
}

static int fixup(const char *pins, struct table *t)
{
	static const struct roundtrip_kind kind = {
		.state_size = sizeof(struct dnsname_question),
		.key_size = sizeof(struct dnsname_key),
		.key_of = key_of,
	};

	return roundtrips_waiting_by(pins, "dnsname_questions", t, WORD(struct dnsname, unanswered),
				     &kind);
}

static const struct map_plan maps[] = { { "dnsname_questions", .pinned = true }, {} };

const struct meter meter_dnsname = {
	.name = "dnsname",
	.help = "queries to name servers by the name that is asked for: answers, failures, times",
	.type = EVENT_METER,
	.host = true,
	.by = BY_KEY,
	.row_size = sizeof(struct dnsname),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct dnsname_key),
		.labels = labels,
		.text = key_words,
	},
	.events = { .fill = fill, .maps = maps },
	.fixup = fixup,
	.on_request = "it looks at the headers of all packets of the host: 0.1 us per packet sent "
		      "and received",
};
