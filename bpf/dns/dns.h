/* SPDX-License-Identifier: GPL-2.0 */
/* Questions to name servers, by server and who asks: how they are answered, and when. */
#ifndef NICPROBE_DNS_H
#define NICPROBE_DNS_H

#include "bpf/host/roundtrip.h"

enum dns_answer {		/* the response code: RFC 1035, 4.1.1 */
	DNS_OK,
	DNS_NXDOMAIN,		/* there is no such name */
	DNS_SERVFAIL,
	DNS_REFUSED,
	DNS_OTHER,
	NR_DNS_ANSWERS
};

#ifndef __bpf__
extern const char *const dns_answer_names[NR_DNS_ANSWERS];
#endif

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

#endif
