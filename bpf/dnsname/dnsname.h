/* SPDX-License-Identifier: GPL-2.0 */
/* Questions to name servers, by the name and the type that they ask for. */
#ifndef NICPROBE_DNSNAME_H
#define NICPROBE_DNSNAME_H

#include "bpf/dns/dns.h"

/*
 * Rows, besides that of the others: for names, and for what is below a domain, once names find no
 * room. Names that this host only forwards may take half of them: whoever sends them is a stranger.
 */
#define DNSNAMES	4096
#define DNSNAMES_BELOW	1024

#define DNSNAME_BYTES	96	/* of a name in a packet; of a longer one its last labels */
#define DNSNAME_BELOW	3	/* labels of a domain, below which others are counted together */

enum dnsname_what {
	DNSNAME_OTHERS,		/* those that find no room, and what could not be read */
	DNSNAME_WHOLE,
	DNSNAME_CUT,		/* its first labels are missing */
	DNSNAME_ALL_BELOW,	/* of the names that found no room, those below this one */
};

struct dnsname_key {
	union {
		__u8 name[DNSNAME_BYTES];	/* labels as in a packet, lower case; then zeros */
		__u64 words[DNSNAME_BYTES / 8];
	};
	__u32 type;		/* RFC 1035, 3.2.2 */
	__u32 what;		/* enum dnsname_what */
};
KEY_BYTES(struct dnsname_key, DNSNAME_BYTES + 8);

struct dnsname {
	__u64 asked;		/* questions, without those sent once more */
	__u64 again;		/* sent once more, from the same port */
	__u64 answers[NR_DNS_ANSWERS];	/* the first of each question */
	__u64 empty;		/* of those without an error: they have no record */
	__u64 truncated;	/* of the answers */
	__u64 unread;		/* questions whose name could not be read */
	__u64 unanswered[2];	/* a level: set when it is read, of dnsname_questions */
	HIST(latency, LOGLIN_SLOTS);	/* ns, from the first question to the first answer */
};

struct dnsname_question {
	struct roundtrip_state state;
	struct dnsname_key key;		/* of the row that counts it */
};

#ifndef __bpf__
/* "www.example.com", "*.example.com" of all below; odd bytes as dig has them: "a\.b.example.com" */
void dnsname_text(const struct dnsname_key *, char *text, size_t size);
#endif

#endif
