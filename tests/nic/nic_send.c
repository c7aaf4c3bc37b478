/* SPDX-License-Identifier: GPL-2.0 */
/* The words of the command `send`. */
#include <arpa/inet.h>
#include <netinet/ether.h>
#include <stdio.h>
#include <string.h>

#include "nic.h"

/* The request of `send`, before it is checked. */
struct wish {
	struct frame_spec	spec;
	uint64_t		ecn;
	uint64_t		sport;
	uint64_t		dport;
	uint64_t		flows;
	uint64_t		mss;
	uint64_t		pps;
};

static bool address_parse(enum frame_l3 l3, const char *word, void *addr)
{
	return inet_pton(l3 == FRAME_V6 ? AF_INET6 : AF_INET, word, addr) == 1;
}

static bool tags_parse(const char *word, unsigned int want, struct frame_spec *spec)
{
	unsigned int outer, inner;
	char end;

	spec->nr_tags = want;
	if (want == 1) {
		if (sscanf(word, "%u%c", &outer, &end) != 1 || outer > 4095)
			return false;
	} else {
		if (sscanf(word, "%u,%u%c", &outer, &inner, &end) != 2 || outer > 4095 ||
		    inner > 4095)
			return false;
		spec->tag[1] = inner;
	}
	spec->tag[0] = outer;
	return true;
}

static const char *value_of(const char *word, const char *name)
{
	const size_t len = strlen(name);

	return strncmp(word, name, len) ? NULL : word + len;
}

static bool option_parse(const char *word, struct wish *wish)
{
	struct frame_spec *spec = &wish->spec;
	const struct {
		const char	*name;
		uint64_t	min;
		uint64_t	max;
		uint64_t	*to;
	} numbers[] = {
		{ "ecn=", 0, 3, &wish->ecn },
		{ "sport=", 0, 65535, &wish->sport },
		{ "dport=", 0, 65535, &wish->dport },
		{ "flows=", 1, 65536, &wish->flows },
		{ "gso=", 1, 65535, &wish->mss },
		{ "pps=", 1, 100000000, &wish->pps },
	};
	const char *value;
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		value = value_of(word, numbers[i].name);
		if (value)
			return number_parse(value, numbers[i].max, numbers[i].to) &&
			       *numbers[i].to >= numbers[i].min;
	}
	if ((value = value_of(word, "vlan=")))
		return tags_parse(value, 1, spec);
	if ((value = value_of(word, "qinq=")))
		return tags_parse(value, 2, spec);
	if ((value = value_of(word, "dmac=")))
		return ether_aton_r(value, (struct ether_addr *)spec->dmac);
	if ((value = value_of(word, "smac=")))
		return ether_aton_r(value, (struct ether_addr *)spec->smac);
	if ((value = value_of(word, "src=")))
		return address_parse(spec->l3, value, &spec->src);
	if ((value = value_of(word, "dst=")))
		return address_parse(spec->l3, value, &spec->dst);
	return false;
}

static bool kind_parse(const char *word, struct frame_spec *spec)
{
	static const char *const l3[] = {
		[FRAME_V4] = "v4", [FRAME_V6] = "v6", [FRAME_ARP] = "arp", [FRAME_RAW] = "raw",
	};
	static const char *const l4[] = {
		[FRAME_UDP] = "udp", [FRAME_TCP] = "tcp", [FRAME_ICMP] = "icmp",
	};
	unsigned int i;

	for (i = 0; i < 4; i++) {
		if (!strcmp(word, l3[i])) {
			spec->l3 = i;
			return true;
		}
	}
	for (i = 0; i < 3; i++) {
		if (!strcmp(word, l4[i])) {
			spec->l4 = i;
			return true;
		}
	}
	if (strcmp(word, "seq"))
		return false;
	spec->numbered = true;
	return true;
}

/* Addresses of the benchmarking networks (RFC 2544, 5180): nobody here has them or answers. */
static int spec_default(struct nic *nic, unsigned int queue, struct frame_spec *spec)
{
	const uint8_t smac[] = { 0x02, 'n', 'i', 'c', 0, queue };
	const bool v6 = spec->l3 == FRAME_V6;

	memcpy(spec->smac, smac, sizeof(smac));
	address_parse(spec->l3, v6 ? "2001:2::1" : "198.18.0.1", &spec->src);
	address_parse(spec->l3, v6 ? "2001:2::2" : "198.18.0.2", &spec->dst);
	spec->stream = queue;
	return nic->backend->mac(nic, spec->dmac);
}

/* Sends an error answer itself. */
static bool wish_parse(struct nic *nic, int argc, char **argv, unsigned int queue,
		       struct wish *wish)
{
	int i, err;

	for (i = 4; i < argc; i++) {
		if (!strchr(argv[i], '=') && !kind_parse(argv[i], &wish->spec)) {
			answer_error("send does not understand %s", argv[i]);
			return false;
		}
	}
	err = spec_default(nic, queue, &wish->spec);
	if (err) {
		answer_error("cannot get the MAC address of %s: %s", nic->name, strerror(-err));
		return false;
	}
	for (i = 4; i < argc; i++) {
		if (strchr(argv[i], '=') && !option_parse(argv[i], wish)) {
			answer_error("send does not understand %s", argv[i]);
			return false;
		}
	}
	wish->spec.ecn = wish->ecn;
	wish->spec.sport = wish->sport;
	wish->spec.dport = wish->dport;
	wish->spec.flows = wish->flows;
	wish->spec.mss = wish->mss;
	return true;
}

void send_command(struct nic *nic, int argc, char **argv)
{
	struct wish wish = { .sport = 10000, .dport = 9, .flows = 1 };
	uint64_t queue, count, size;
	const char *why;

	if (argc < 4 || !number_parse(argv[1], nic->nr_queues - 1, &queue) ||
	    !number_parse(argv[2], NIC_MAX_FRAMES, &count) || !count ||
	    !number_parse(argv[3], FRAME_MAX, &size)) {
		answer_error("usage: send QUEUE COUNT SIZE [WORD...]");
		return;
	}
	wish.spec.size = size;
	if (!wish_parse(nic, argc, argv, queue, &wish))
		return;
	if (wish.mss && !nic->vnet) {
		answer_error("gso needs --vnet-hdr");
		return;
	}
	why = batch_add(nic, queue, count, wish.pps, &wish.spec);
	if (why)
		answer_error("%s", why);
	else
		printf("{\"queued\":%llu}\n", (unsigned long long)count);
}
