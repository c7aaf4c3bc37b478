/* SPDX-License-Identifier: GPL-2.0 */
/* Echoes of ICMP and the errors it tells, of IPv4 and IPv6, by host. */
#ifndef NICPROBE_ICMP_H
#define NICPROBE_ICMP_H

#include "bpf/host/roundtrip.h"

enum icmp_error {		/* RFC 792, 1812, 4443: both families have most */
	ICMP_NET_UNREACHABLE,
	ICMP_HOST_UNREACHABLE,
	ICMP_PROTOCOL_UNREACHABLE,
	ICMP_PORT_UNREACHABLE,
	ICMP_TOO_BIG,		/* fragmentation needed, or packet too big */
	ICMP_PROHIBITED,	/* by a filter or a policy */
	ICMP_UNREACHABLE,	/* for another reason */
	ICMP_TTL_EXCEEDED,	/* or the hop limit */
	ICMP_REASSEMBLY,	/* fragments did not come */
	ICMP_REDIRECT,
	ICMP_PARAMETER,		/* a header that is not understood */
	NR_ICMP_ERRORS
};

struct icmp {
	__u64 asked;		/* echo requests, without those sent once more */
	__u64 again;		/* sent once more, with the same id and sequence number */
	__u64 answered;		/* first replies */
	__u64 failed;		/* requests to which an error came before a reply */
	__u64 duplicates;	/* further replies */
	__u64 stray;		/* replies that belong to no request we know */
	__u64 replied;		/* replies that this host sent */
	__u64 received[NR_ICMP_ERRORS];		/* errors that this host or one behind it got */
	__u64 forwarded[NR_ICMP_ERRORS];	/* of these: passed on */
	__u64 sent[NR_ICMP_ERRORS];		/* errors of this host */
	__u64 unheeded;		/* of ICMP_TOO_BIG: TCP sent more after the first ones */
	__u64 unread;		/* messages of which the header is not linear */
	__u64 unanswered[2];	/* a level: set when it is read, of icmp_echoes */
	__u64 mtu[2];		/* a level: that of the last ICMP_TOO_BIG */
	HIST(latency, LOGLIN_SLOTS);	/* ns, from the request to its first reply */
	HIST(replying, LOGLIN_SLOTS);	/* ns, from a request that came to our reply */
};

#endif
