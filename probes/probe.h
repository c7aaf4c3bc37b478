/* SPDX-License-Identifier: GPL-2.0 */
/* Stable probes: their fields, arguments, and the places where this kernel shows their events. */
#ifndef NICPROBE_PROBES_PROBE_H
#define NICPROBE_PROBES_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "probes/probe_event.h"
#include "probes/query.h"

struct error;

/* How a field is read from the command line and printed. */
enum field_format {
	FORMAT_DECIMAL,
	FORMAT_HEX,
	FORMAT_ADDRESS,		/* struct probe_address: "10.0.0.1", "fd00::1" */
	FORMAT_MAC,
	FORMAT_STRING,		/* up to 16 bytes */
	FORMAT_STATE,		/* of TCP: "syn-sent" */
	FORMAT_TCP_FLAGS,	/* "SYN|ACK" */
	FORMAT_PROTOCOL,	/* "tcp" */
	FORMAT_ETHERTYPE,	/* "ipv4" */
	FORMAT_FAMILY,		/* "inet" */
	FORMAT_SOCKET_TYPE,	/* "stream" */
	FORMAT_REASON,		/* of a drop: "NO_SOCKET" */
	FORMAT_SYMBOL,		/* an address of the kernel */
	FORMAT_ERRNO,		/* -111: "ECONNREFUSED" */
	FORMAT_SYSCALL,
	FORMAT_PROBE,		/* enum stable_probe: "tcp:::send" */
	FORMAT_SOURCE,		/* enum source */
	FORMAT_CHUNK,		/* of SCTP: "init" */
	FORMAT_STOPPER,		/* of a queue: "driver" */
	FORMAT_WORD,		/* a number, or an address of the kernel */
	FORMAT_MODULE,		/* of a spot: "ixgbevf" */
	FORMAT_KSTACK,		/* several functions: stack_text() */
	FORMAT_USTACK,
	NR_FORMATS
};

/* A member of struct probe_event, as users name it. */
struct field {
	const char *name;	/* "tcp_dport" */
	const char *of;		/* struct of the argument that has it: "tcpinfo_t"; NULL: none */
	__u16 offset;
	__u8 size;		/* bytes: 1, 2, 4, 6, 8, 16 */
	bool is_signed;
	enum event_group group;
	enum field_format format;
	const char *unit;	/* "bytes", "ns"; NULL: a number without unit, or no number */
	const char *help;
};
extern const struct field fields[];	/* ends with an empty one */

const struct field *field_find(const char *name);
/* Can it be compared by < and >, summed and so on? */
bool field_is_number(const struct field *);
bool field_is_stack(const struct field *);
const char *field_type(const struct field *);	/* "uint16_t", "string" */

/* A bit for each stable probe: 1 << enum stable_probe. */
typedef unsigned __int128 probe_set;

static inline probe_set probe_bit(enum stable_probe p)
{
	return (probe_set)1 << p;
}

#define PROBE_ARGS	6
struct stable {
	const char *provider, *name;		/* "tcp", "accept-refused" */
	const char *args[PROBE_ARGS];		/* "pktinfo_t"; NULL: none */
	const char *help;			/* when it fires */
	const char *columns;			/* default of --print: fields, with commas */
};
extern const struct stable stable_probes[NR_STABLE_PROBES];

/* "tcp:::accept-refused", as text() */
const char *probe_name(enum stable_probe);
/*
 * The probes that a pattern names: "tcp:::send", "ip:::drop-*", "tcp:::", "gld:::send". 0: none.
 * "syscall::sendto:entry" has its function copied to `function` (size 64); for others it is "".
 */
probe_set probes_match(const char *pattern, char *function);

/* -EOPNOTSUPP and an error: others have this probe, and nicprobe has not; 0: no such probe. */
int probe_lacking(const char *name, struct error *);

/* OVER: it counts too much; UNDER: it misses some. */
enum grade { EXACT, NEAR, OVER, UNDER };
extern const char *const grade_names[];

/* A source that can serve a probe; for each probe the best one first. */
struct serving {
	enum stable_probe probe;
	enum source source;
	enum grade grade;
	__u64 groups;		/* 1 << GROUP_x that it can fill, GROUP_BASE left out */
	const char *note;	/* what differs; NULL: nothing */
};
extern const struct serving servings[];	/* ends with NR_STABLE_PROBES */

const char *source_name(enum source);		/* "tp_btf/net_dev_queue" */
/* Why this kernel has it not; NULL: it has. Found out once. */
const char *source_lacks(enum source);
/*
 * The best source here for a probe of which these groups are needed; NULL and an error that names
 * what is missing, and where it could be had. `forced`, if not NULL, names the kind: "tp", "nf".
 * `everywhere`: it must see all network namespaces.
 */
const struct serving *serving_for(enum stable_probe, __u64 groups, const char *forced,
				  bool everywhere, struct error *);

/* Is this word, of 8 bytes, no number but an address of the kernel? */
bool word_is_address(const void *from);
/* The value of a field at `from`, which is where its bytes are; `size` bytes of text. */
void field_text(const struct field *, const void *from, char *text, size_t size);
/*
 * A value from the command line: numbers, names and addresses, "10.0.0.0/8" with its mask.
 * -EINVAL and an error that names what the field takes.
 */
int field_parse(const struct field *, const char *text, struct term *, struct error *);

#endif
