/* SPDX-License-Identifier: GPL-2.0 */
/* Questions to name servers, by server and who asks: how they are answered, and when. */
#ifndef NICPROBE_DNS_H
#define NICPROBE_DNS_H

#include "bpf/host/remote.h"

enum dns_answer {		/* the response code: RFC 1035, 4.1.1 */
	DNS_OK,
	DNS_NXDOMAIN,		/* there is no such name */
	DNS_SERVFAIL,
	DNS_REFUSED,
	DNS_OTHER,
	NR_DNS_ANSWERS
};

struct dns_key {
	struct remote server;	/* all zeros: any, of those for which the map has no room */
	char comm[COMM_SIZE];	/* who asks; "": not known, as of packets that are forwarded */
};
KEY_BYTES(struct dns_key, 32);

struct dns {
	__u64 asked;		/* questions, without those sent once more */
	__u64 again;		/* sent once more, from the same port */
	__u64 answers[NR_DNS_ANSWERS];	/* the first of each question */
	__u64 truncated;	/* of the answers: the rest is to be had by TCP */
	__u64 late;		/* answers that belong to no question we know */
	__u64 unread;		/* packets of which the header is not linear */
	__u64 unanswered[2];	/* a level: set when it is read, of dns_questions */
	HIST(latency, LOGLIN_SLOTS);	/* ns, from the first question to the first answer */
};

/* So many questions are known; those asked longest ago are forgotten. */
#define DNS_QUESTIONS 8192

struct dns_question {			/* one that was sent */
	struct remote server, client;
	__be16 port, id;
};
KEY_BYTES(struct dns_question, 36);

struct dns_asked {
	__u64 since, seen;	/* CLOCK_MONOTONIC ns: of the first packet, of the last */
	__u64 device;		/* address of the first that saw the last one */
	__u32 answered;
	char comm[COMM_SIZE];
};

/* A question without an answer counts as unanswered for so long, ns. */
#define DNS_UNANSWERED_FROM	2000000000ull
#define DNS_UNANSWERED_TO	10000000000ull

#endif
