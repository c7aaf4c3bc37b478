/* SPDX-License-Identifier: GPL-2.0 */
/* Writes packets as pcapng (draft-ietf-opsawg-pcapng), block by block. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "lib/util/grow.h"
#include "probes/probe.h"
#include "render/pcapng.h"

#define SECTION		0x0a0d0d0a
#define INTERFACE	1
#define PACKET		6
#define BYTE_ORDER_MARK	0x1a2b3c4d
#define LINK_ETHERNET	1
#define LINK_RAW_IP	101

/* Options: the numbers of each kind of block are its own, but for the comment. */
#define END		0
#define COMMENT		1
#define SECTION_PROGRAM	4
#define IF_NAME		2
#define IF_TIME_UNIT	9
#define PACKET_FLAGS	2
#define INBOUND		1
#define OUTBOUND	2
#define NANOSECONDS	9

#define MACS		12		/* bytes of a frame before a VLAN tag */
#define TAG		4

struct pcapng {
	int fd;
	bool own;			/* fd is to be closed */
	const struct question *question;
	char (*interfaces)[16];		/* their numbers in the file are their places here */
	unsigned nr_interfaces;
	char *bytes;			/* whole blocks that are not written yet */
	size_t nr, room;
	size_t begins;			/* of the block that is being made */
	__s64 behind;			/* CLOCK_REALTIME at 0 of CLOCK_MONOTONIC, in ns */
	int err;
};

static void put(struct pcapng *f, const void *from, size_t n)
{
	size_t padded = (n + 3) / 4 * 4;

	if (f->err)
		return;
	if (f->nr + padded > f->room) {
		size_t room = 2 * f->room + padded;
		char *bytes = realloc(f->bytes, room);

		if (!bytes) {
			f->err = -ENOMEM;
			return;
		}
		f->bytes = bytes;
		f->room = room;
	}
	memset(f->bytes + f->nr, 0, padded);
	if (n)
		memcpy(f->bytes + f->nr, from, n);
	f->nr += padded;
}

static void put_32(struct pcapng *f, __u32 n)
{
	put(f, &n, sizeof(n));
}

static void option(struct pcapng *f, __u16 number, const void *value, __u16 n)
{
	__u16 head[] = { number, n };

	put(f, head, sizeof(head));
	put(f, value, n);
}

/* Its length, which is at both ends, is known at the end. */
static void block_begin(struct pcapng *f, __u32 type)
{
	f->begins = f->nr;
	put_32(f, type);
	put_32(f, 0);
}

static void block_end(struct pcapng *f)
{
	__u32 n = f->nr + sizeof(n) - f->begins;

	put_32(f, n);
	if (!f->err)
		memcpy(f->bytes + f->begins + sizeof(__u32), &n, sizeof(n));
	else
		f->nr = f->begins;
}

static void section_begin(struct pcapng *f)
{
	static const char program[] = "nicprobe";
	__u16 version[] = { 1, 0 };
	__s64 unknown = -1;		/* how long the section is */

	block_begin(f, SECTION);
	put_32(f, BYTE_ORDER_MARK);
	put(f, version, sizeof(version));
	put(f, &unknown, sizeof(unknown));
	option(f, SECTION_PROGRAM, program, strlen(program));
	option(f, END, NULL, 0);
	block_end(f);
}

/* The number of an interface, which the file describes before its first packet. */
static __u32 interface_of(struct pcapng *f, const struct probe_event *e)
{
	__u16 link[] = { f->question->query.ethernet ? LINK_ETHERNET : LINK_RAW_IP, 0 };
	char name[sizeof(e->if_name)] = "";
	__u8 unit = NANOSECONDS;
	void *list;

	if (e->have >> GROUP_IF & 1)
		memcpy(name, e->if_name, strnlen(e->if_name, sizeof(name)));
	for (unsigned i = 0; i < f->nr_interfaces; i++)
		if (!memcmp(f->interfaces[i], name, sizeof(name)))
			return i;
	list = grow(f->interfaces, f->nr_interfaces, sizeof(*f->interfaces));
	if (!list) {
		f->err = -ENOMEM;
		return 0;
	}
	f->interfaces = list;
	memcpy(f->interfaces[f->nr_interfaces], name, sizeof(name));
	block_begin(f, INTERFACE);
	put(f, link, sizeof(link));
	put_32(f, f->question->query.snaplen + TAG);
	if (*name)
		option(f, IF_NAME, name, strnlen(name, sizeof(name)));
	option(f, IF_TIME_UNIT, &unit, sizeof(unit));
	option(f, END, NULL, 0);
	block_end(f);
	return f->nr_interfaces++;
}

static void field_add(char *to, size_t size, const struct field *of, const struct probe_event *e)
{
	char value[96];

	if (!(e->have >> of->group & 1) || of->format == FORMAT_PROBE)
		return;
	field_text(of, (const char *)e + of->offset, value, sizeof(value));
	snprintf(to + strlen(to), size - strlen(to), " %s=%s", of->name, value);
}

static void comment_add(struct pcapng *f, const struct probe_event *e)
{
	const struct question *q = f->question;
	char said[600];

	snprintf(said, sizeof(said), "%s", probe_name(e->probe));
	/* headers are in the packet */
	for (unsigned i = 0; i < q->nr_printed; i++)
		if (q->printed_asked || q->printed[i]->group == GROUP_DROP)
			field_add(said, sizeof(said), q->printed[i], e);
	option(f, COMMENT, said, strlen(said));
}

static bool arrives(enum stable_probe p)
{
	const char *name = stable_probes[p].name;

	return strstr(name, "receive") || !strncmp(name, "rx-", 3) || !strcmp(name, "drop-in");
}

/* Packets are padded to whole words: the parts of one cannot be put one by one. */
static void frame_put(struct pcapng *f, const struct captured *c, bool tagged)
{
	__u8 frame[SNAPLEN_MOST + TAG];
	__be16 tci = htobe16(c->vlan_tci);

	if (!tagged) {
		put(f, c->bytes, c->caplen);
		return;
	}
	memcpy(frame, c->bytes, MACS);
	memcpy(frame + MACS, &c->vlan_proto, 2);
	memcpy(frame + MACS + 2, &tci, 2);
	memcpy(frame + MACS + TAG, c->bytes + MACS, c->caplen - MACS);
	put(f, frame, c->caplen + TAG);
}

int pcapng_packet(struct pcapng *f, const struct captured *c)
{
	const struct probe_event *e = &c->event;
	bool tagged = f->question->query.ethernet && e->have >> GROUP_ETH & 1 &&
		      e->eth_istagged && c->caplen >= MACS && c->caplen <= SNAPLEN_MOST;
	__u32 flags = arrives(e->probe) ? INBOUND : OUTBOUND;
	__u64 when = e->timestamp + f->behind;
	__u32 interface = interface_of(f, e), more = tagged ? TAG : 0;

	block_begin(f, PACKET);
	put_32(f, interface);
	put_32(f, when >> 32);
	put_32(f, when);
	put_32(f, c->caplen + more);
	put_32(f, c->len + more);
	frame_put(f, c, tagged);
	comment_add(f, e);
	option(f, PACKET_FLAGS, &flags, sizeof(flags));
	option(f, END, NULL, 0);
	block_end(f);
	return f->err;
}

/* Of `written` bytes, those of whole blocks. */
static size_t whole(const struct pcapng *f, size_t written)
{
	size_t at = 0;
	__u32 n;

	while (at < written) {
		memcpy(&n, f->bytes + at + sizeof(__u32), sizeof(n));
		if (at + n > written)
			break;
		at += n;
	}
	return at;
}

int pcapng_flush(struct pcapng *f)
{
	size_t done = 0;
	ssize_t n = 0;

	while (!f->err && done < f->nr) {
		n = write(f->fd, f->bytes + done, f->nr - done);
		if (n >= 0)
			done += n;
		else if (errno != EINTR)
			f->err = -errno;
	}
	if (f->err && whole(f, done) < done) {
		off_t end = lseek(f->fd, 0, SEEK_CUR);

		if (end >= 0 && ftruncate(f->fd, end - (off_t)(done - whole(f, done))))
			f->err = -errno;
	}
	f->nr = 0;
	return f->err;
}

int pcapng_close(struct pcapng *f)
{
	int err = pcapng_flush(f);

	if (f->own && close(f->fd) && !err)
		err = -errno;
	free(f->interfaces);
	free(f->bytes);
	free(f);
	return err;
}

static __s64 now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

struct pcapng *pcapng_open(const char *path, const struct question *q, struct error *e)
{
	struct pcapng *f = calloc(1, sizeof(*f));

	if (!f) {
		error_set(e, -ENOMEM, NULL, "out of memory");
		return NULL;
	}
	f->question = q;
	f->own = strcmp(path, "-");
	f->fd = f->own ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : STDOUT_FILENO;
	f->behind = now(CLOCK_REALTIME) - now(CLOCK_MONOTONIC);
	if (f->fd < 0) {
		error_set(e, -errno, NULL, "cannot write %s: %s", path, strerror(errno));
	} else if (!f->own && isatty(f->fd)) {
		error_set(e, -EINVAL, "--pcap FILE", "--pcap: a terminal shows no packets");
	} else {
		section_begin(f);
		if (!pcapng_flush(f))
			return f;
		error_set(e, f->err, NULL, "cannot write %s: %s", path, strerror(-f->err));
	}
	if (f->fd < 0)
		f->own = false;
	f->err = f->err ?: -EINVAL;	/* nothing is written any more */
	pcapng_close(f);
	return NULL;
}
