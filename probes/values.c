/* SPDX-License-Identifier: GPL-2.0 */
/* Values of fields: as text, and from the command line. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/kernel/symbol.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "lib/util/near.h"
#include "probes/named.h"

#define STRING_SIZE	16
#define MAPPED		12	/* bytes before an IPv4 address: ::ffff: */
static const __u8 mapped[MAPPED] = { [10] = 0xff, [11] = 0xff };

/* As it lies in memory, which need not be aligned. */
static __u64 unsigned_at(const void *from, unsigned size)
{
	__u64 n8 = 0;
	__u32 n4;
	__u16 n2;

	switch (size) {
	case 1:
		return *(const __u8 *)from;
	case 2:
		memcpy(&n2, from, sizeof(n2));
		return n2;
	case 4:
		memcpy(&n4, from, sizeof(n4));
		return n4;
	default:
		memcpy(&n8, from, sizeof(n8));
		return n8;
	}
}

static __s64 number_at(const struct field *f, const void *from)
{
	__u64 n = unsigned_at(from, f->size);

	return f->is_signed && f->size == 4 ? (__s32)n : (__s64)n;
}

static void address_text(const __u8 *bytes, char *to, size_t size)
{
	bool v4 = !memcmp(bytes, mapped, MAPPED);

	if (!inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? bytes + MAPPED : bytes, to, size))
		*to = 0;	/* no room */
}

/* "SYN|ACK"; "0": none is set. */
static void flags_text(__u64 flags, char *to, size_t size)
{
	size_t used = 0;

	snprintf(to, size, "0");
	for (unsigned bit = 0; bit < 8; bit++)
		if (flags >> bit & 1 && used < size)
			used += snprintf(to + used, size - used, "%s%s", used ? "|" : "",
					 named_text(FORMAT_TCP_FLAGS, 1u << bit));
}

static void errno_text(__s64 n, bool is_signed, char *to, size_t size)
{
	/* what a function returns above 0 is no error */
	const char *name = n && (n < 0 || !is_signed) && llabs(n) < 4096 ?
			   named_text(FORMAT_ERRNO, llabs(n)) : NULL;

	if (name)
		snprintf(to, size, "%s", name);
	else
		snprintf(to, size, "%lld", n);
}

bool word_is_address(const void *from)
{
	/* numbers below 0 are errors and differences; addresses are far below */
	return (__s64)unsigned_at(from, 8) < -(1ll << 40);
}

void field_text(const struct field *f, const void *from, char *to, size_t size)
{
	const __u8 *b = from;
	const char *name = NULL;
	__s64 n = 0;

	if (f->size <= 8 && f->format != FORMAT_MAC)
		n = number_at(f, from);
	switch (f->format) {
	case FORMAT_ADDRESS:
		address_text(from, to, size);
		return;
	case FORMAT_MAC:
		snprintf(to, size, "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4],
			 b[5]);
		return;
	case FORMAT_STRING:
		snprintf(to, size, "%.*s", f->size, (const char *)from);
		return;
	case FORMAT_TCP_FLAGS:
		flags_text(n, to, size);
		return;
	case FORMAT_SYMBOL:
		symbol_text(n, to, size);
		return;
	case FORMAT_ERRNO:
		errno_text(n, f->is_signed, to, size);
		return;
	case FORMAT_HEX:
		snprintf(to, size, "0x%llx", n);
		return;
	case FORMAT_WORD:
		snprintf(to, size, word_is_address(from) ? "0x%llx" : "%lld", n);
		return;
	case FORMAT_DECIMAL:
		break;
	default:
		name = named_text(f->format, n);
	}
	if (name)
		snprintf(to, size, "%s", name);
	else if (f->format == FORMAT_ETHERTYPE)
		snprintf(to, size, "0x%04llx", n);
	else
		snprintf(to, size, f->is_signed ? "%lld" : "%llu", n);
}

/* The name that may have been meant; NULL: none is near. */
static const char *nearest(const struct field *f, const char *value)
{
	static struct near near;

	near = near_to(value);
	named_near(f->format, &near);
	return *near.name ? near.name : NULL;
}

static int refuse(const struct field *f, const char *value, const char *takes, struct error *e)
{
	return error_set(e, -EINVAL, nearest(f, value), "\"%s\" is no value of %s, which takes %s",
			 value, f->name, takes);
}

/* "10.0.0.1", "fd00::1", "10.0.0.0/8" */
static int address_parse(const struct field *f, const char *value, struct term *t, struct error *e)
{
	char address[INET6_ADDRSTRLEN + 1], *end;
	size_t len = strcspn(value, "/");
	__u8 bytes[16], mask[16] = {};
	unsigned long bits;
	bool v4;

	snprintf(address, sizeof(address), "%.*s", (int)len, value);
	v4 = inet_pton(AF_INET, address, bytes + MAPPED) == 1;
	if (v4)
		memcpy(bytes, mapped, MAPPED);
	if (len >= sizeof(address) || (!v4 && inet_pton(AF_INET6, address, bytes) != 1))
		return refuse(f, value, "an address: 10.0.0.1, fd00::1, or with a mask 10.0.0.0/8",
			      e);
	bits = v4 ? 32 : 128;
	if (value[len] && (!isdigit((unsigned char)value[len + 1]) ||
			   strtoul(value + len + 1, &end, 10) > bits || *end))
		return refuse(f, value, text("a mask of 0 to %lu bits", bits), e);
	bits = (v4 ? 96 : 0) + (value[len] ? strtoul(value + len + 1, NULL, 10) : bits);
	for (unsigned i = 0; i < bits; i++)
		mask[i / 8] |= 0x80 >> i % 8;
	for (unsigned i = 0; i < 16; i++)
		bytes[i] &= mask[i];
	memcpy(t->mask, mask, sizeof(mask));
	memcpy(t->val, bytes, sizeof(bytes));
	return 0;
}

static int mac_parse(const struct field *f, const char *value, struct term *t, struct error *e)
{
	unsigned part[6];
	__u8 bytes[6];
	int end = 0;

	if (sscanf(value, "%2x:%2x:%2x:%2x:%2x:%2x%n", part, part + 1, part + 2, part + 3, part + 4,
		   part + 5, &end) != 6 || value[end] ||
	    strspn(value, "0123456789abcdefABCDEF:") != (size_t)end)
		return refuse(f, value, "an address like 02:00:00:00:00:01", e);
	for (unsigned i = 0; i < 6; i++)
		bytes[i] = part[i];
	t->size = 8;	/* the mask leaves out what lies behind */
	memset(t->mask, 0xff, sizeof(bytes));
	memcpy(t->val, bytes, sizeof(bytes));
	return 0;
}

/* Compared with its end, as anything may lie behind that. */
static int string_parse(const struct field *f, const char *value, struct term *t, struct error *e)
{
	size_t len = strlen(value);

	if (!len || len >= STRING_SIZE)
		return refuse(f, value, text("1 to %u characters", STRING_SIZE - 1), e);
	memset(t->mask, 0xff, len + 1);
	memcpy(t->val, value, len);
	return 0;
}

/* Decimal, or 0x and hexadecimal. */
static bool number_parse(const char *value, bool *negative, __u64 *n)
{
	bool hex;
	char *end;

	*negative = *value == '-';
	value += *negative;
	hex = !strncasecmp(value, "0x", 2);
	if (!isxdigit((unsigned char)value[hex ? 2 : 0]) ||
	    (!hex && !isdigit((unsigned char)*value)))
		return false;
	errno = 0;
	*n = strtoull(value, &end, hex ? 16 : 10);
	return !*end && !errno;
}

static int number_put(const struct field *f, const char *value, bool negative, __u64 n,
		      struct term *t, struct error *e)
{
	unsigned bits = f->size * 8 - f->is_signed;
	__u64 most = bits < 64 ? (1ull << bits) - 1 : UINT64_MAX;

	if (negative && n && !f->is_signed)
		return error_set(e, -EINVAL, NULL, "%s is never below 0: %s", f->name, value);
	if (n > most + (negative && f->is_signed))
		return error_set(e, -EINVAL, NULL, "%s is at most %" PRIu64 ": %s", f->name,
				 (uint64_t)most, value);
	t->mask[0] = UINT64_MAX;
	t->val[0] = negative ? -n : n;
	return 0;
}

/* Names with "|" between them. */
static bool flags_parse(const char *value, __u64 *n)
{
	char name[16];
	__u32 flag;

	for (*n = 0;; value++) {
		size_t len = strcspn(value, "|");

		if (len >= sizeof(name))
			return false;
		snprintf(name, sizeof(name), "%.*s", (int)len, value);
		if (!named_number(FORMAT_TCP_FLAGS, name, &flag))
			return false;
		*n |= flag;
		value += len;
		if (!*value)
			return true;
	}
}

static const char *takes(const struct field *f)
{
	switch (f->format) {
	case FORMAT_STATE:
		return "a state: syn-sent, established";
	case FORMAT_TCP_FLAGS:
		return "flags: SYN, SYN|ACK";
	case FORMAT_PROTOCOL:
		return "a protocol: tcp, udp, icmp, or its number";
	case FORMAT_ETHERTYPE:
		return "a protocol: ipv4, ipv6, arp, or its number";
	case FORMAT_FAMILY:
		return "a family: inet, inet6, unix";
	case FORMAT_SOCKET_TYPE:
		return "a type: stream, dgram";
	case FORMAT_REASON:
		return "the name of a reason of this kernel: NO_SOCKET";
	case FORMAT_SYMBOL:
		return "an address, as a number";
	case FORMAT_ERRNO:
		return "the name of an error, or a number: ECONNREFUSED";
	case FORMAT_SYSCALL:
		return "a system call: sendto";
	case FORMAT_PROBE:
		return "a probe: tcp:::send";
	default:
		return "a number";
	}
}

static bool name_parse(const struct field *f, const char *value, bool *negative, __u64 *n)
{
	__u32 number;

	if (f->format == FORMAT_TCP_FLAGS)
		return flags_parse(value, n);
	if (!named_number(f->format, value, &number))
		return false;
	*n = number;
	*negative = f->format == FORMAT_ERRNO && f->is_signed;	/* as functions return it */
	return true;
}

int field_parse(const struct field *f, const char *value, struct term *t, struct error *e)
{
	bool negative = false;
	__u64 n;

	*t = (struct term){ .offset = f->offset, .size = f->size, .is_signed = f->is_signed,
			    .group = f->group, .op = OP_EQ };
	switch (f->format) {
	case FORMAT_ADDRESS:
		return address_parse(f, value, t, e);
	case FORMAT_MAC:
		return mac_parse(f, value, t, e);
	case FORMAT_STRING:
		return string_parse(f, value, t, e);
	default:
		if (!number_parse(value, &negative, &n) && !name_parse(f, value, &negative, &n))
			return refuse(f, value, takes(f), e);
		return number_put(f, value, negative, n, t, e);
	}
}
