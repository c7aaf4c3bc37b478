/* SPDX-License-Identifier: GPL-2.0 */
/* A fake world for the fuzzer: sockets, ethtool's ioctl, and files in /proc. */
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <libmnl/libmnl.h>

#include "lib/kernel/feature.h"
#include "lib/read/snapshot.h"
#include "world.h"

#define PORT	77
#define SPARE	4096	/* values that a driver may write beyond the requested number */

static const uint8_t *at;
static size_t left;
static bool has_netlink;
static unsigned seq;

void world_begin(const uint8_t *data, size_t size, bool netlink)
{
	at = data;
	left = size;
	has_netlink = netlink;
}

static size_t fill(void *to, size_t size)
{
	size_t nr = size < left ? size : left;

	if (nr)
		memcpy(to, at, nr);
	at += nr;
	left -= nr;
	return nr;
}

char *world_take(size_t most, size_t *size)
{
	size_t nr = most < left ? most : left;
	char *piece = malloc(nr + 1);

	if (!piece)
		abort();
	fill(piece, nr);
	piece[nr] = '\0';
	*size = nr;
	return piece;
}

unsigned world_number(unsigned bytes)
{
	unsigned number = 0;

	fill(&number, bytes);
	return number;
}

char *world_piece(size_t *size)
{
	return world_take(world_number(2), size);
}

int world_file(const void *data, size_t size, char path[32])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

/* Replacements for system calls of the readers, put in by the linker. */
struct mnl_socket *__wrap_mnl_socket_open2(int bus, int flags);
int __wrap_mnl_socket_bind(struct mnl_socket *sock, unsigned groups, pid_t pid);
unsigned __wrap_mnl_socket_get_portid(const struct mnl_socket *sock);
ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *sock, const void *buf, size_t size);
ssize_t __wrap_mnl_socket_recvfrom(const struct mnl_socket *sock, void *buf, size_t size);
int __wrap_mnl_socket_close(struct mnl_socket *sock);
int __wrap_sysfs_open(const char *iface, unsigned ifindex);

struct mnl_socket *__wrap_mnl_socket_open2(int bus, int flags)
{
	(void)bus, (void)flags;
	errno = EPROTONOSUPPORT;
	return has_netlink ? (void *)&has_netlink : NULL;
}

int __wrap_mnl_socket_bind(struct mnl_socket *sock, unsigned groups, pid_t pid)
{
	(void)sock, (void)groups, (void)pid;
	return 0;
}

unsigned __wrap_mnl_socket_get_portid(const struct mnl_socket *sock)
{
	(void)sock;
	return PORT;
}

ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *sock, const void *buf, size_t size)
{
	(void)sock;
	seq = ((const struct nlmsghdr *)buf)->nlmsg_seq;
	return size;
}

/* A piece of the input: its messages answer the request. After the last comes end-of-file. */
ssize_t __wrap_mnl_socket_recvfrom(const struct mnl_socket *sock, void *buf, size_t size)
{
	bool ends = left < 2;
	size_t wanted = world_number(2), nr = fill(buf, wanted < size ? wanted : size);
	struct nlmsghdr *nlh = buf;
	int rest = nr;
	size_t len;

	(void)sock;
	if (ends) {
		*nlh = (struct nlmsghdr){ .nlmsg_len = 20, .nlmsg_type = NLMSG_DONE,
					  .nlmsg_flags = NLM_F_MULTI };
		memset(nlh + 1, 0, 4);
		rest = nr = 20;
	}
	for (; rest >= (int)sizeof(*nlh); nlh = (void *)nlh + len, rest -= len) {
		nlh->nlmsg_seq = seq;
		nlh->nlmsg_pid = PORT;
		len = NLMSG_ALIGN((size_t)nlh->nlmsg_len);
		if (len < sizeof(*nlh) || len > (size_t)rest)
			break;
	}
	return nr;
}

int __wrap_mnl_socket_close(struct mnl_socket *sock)
{
	(void)sock;
	return 0;
}

int __wrap_sysfs_open(const char *iface, unsigned ifindex)
{
	(void)iface, (void)ifindex;
	return -1;
}

const char *kernel_lacks(enum kernel_feature f)
{
	(void)f;
	return NULL;
}

const struct hook *const hooks[] = { NULL };

const char *denied(const char *name)
{
	(void)name;
	return NULL;
}

/* As in lib/read/baseline.c, which also attaches and pins. */
uint64_t *table_add(struct table *t, const struct meter *m, const void *key)
{
	void *keys = realloc(t->keys, (t->rows + 1) * m->key.size);
	void *cells;

	t->keys = keys ?: t->keys;
	cells = keys ? realloc(t->cells, (t->rows + 1) * (size_t)t->words * 8) : NULL;
	if (!cells)
		return NULL;
	t->cells = cells;
	memcpy(t->keys + t->rows * m->key.size, key, m->key.size);
	memset(t->cells + (size_t)t->rows * t->words, 0, t->words * 8);
	return t->cells + (size_t)t->rows++ * t->words;
}

/* Only of more rows than an input has room for. */
void table_sort(const struct meter *m, struct table *t, table_order *order)
{
	(void)m;
	(void)t;
	(void)order;
}

/* The bytes that the kernel writes after the command, if that does not depend on the request. */
static size_t answer_size(unsigned command)
{
	switch (command) {
	case ETHTOOL_GDRVINFO:		return sizeof(struct ethtool_drvinfo);
	case ETHTOOL_GRINGPARAM:	return sizeof(struct ethtool_ringparam);
	case ETHTOOL_GCOALESCE:		return sizeof(struct ethtool_coalesce);
	case ETHTOOL_GCHANNELS:		return sizeof(struct ethtool_channels);
	case ETHTOOL_GPAUSEPARAM:	return sizeof(struct ethtool_pauseparam);
	case ETHTOOL_GLINKSETTINGS:	return sizeof(struct ethtool_link_settings) + 127 * 12;
	case ETHTOOL_GRXFH:
	case ETHTOOL_GRXCLSRLCNT:	return sizeof(struct ethtool_rxnfc);
	case ETHTOOL_GSSET_INFO:	return sizeof(struct ethtool_sset_info) + 4;
	}
	return 4;
}

static void answer_strings(struct ethtool_gstrings *s)
{
	fill(s->data, (s->len + (size_t)world_number(1)) * ETH_GSTRING_LEN);
	s->len = world_number(1) ? s->len : world_number(4);
}

static void answer_stats(struct ethtool_stats *s)
{
	fill(s->data, (s->n_stats + (size_t)world_number(2) % SPARE) * 8);
	s->n_stats = world_number(1) ? s->n_stats : world_number(4);
}

static void answer_rxfh(struct ethtool_rxfh *r)
{
	size_t room = r->indir_size * sizeof(__u32) + r->key_size;

	if (room)
		fill(r->rss_config, room);
	r->indir_size = world_number(4);
	r->key_size = world_number(2);
	r->hfunc = world_number(1);
}

int fuzz_ioctl(int fd, unsigned long request, ...);

int fuzz_ioctl(int fd, unsigned long request, ...)
{
	const struct ifreq *ifr;
	uint32_t *command;
	va_list args;

	(void)fd;
	va_start(args, request);
	ifr = va_arg(args, const struct ifreq *);
	va_end(args);
	errno = EOPNOTSUPP;
	if (request != SIOCETHTOOL || !left || world_number(1) == 0xff)
		return -1;
	command = (void *)ifr->ifr_data;
	switch (*command) {
	case ETHTOOL_GSTRINGS:	answer_strings((void *)command); break;
	case ETHTOOL_GSTATS:	answer_stats((void *)command); break;
	case ETHTOOL_GRSSH:	answer_rxfh((void *)command); break;
	case ETHTOOL_GFEATURES:
		fill(command + 2, command[1] * sizeof(struct ethtool_get_features_block));
		break;
	default:
		fill(command + 1, answer_size(*command) - 4);
	}
	return 0;
}

char *fuzz_if_indextoname(unsigned ifindex, char *name);

char *fuzz_if_indextoname(unsigned ifindex, char *name)
{
	(void)ifindex;
	return strcpy(name, "eth0");
}

FILE *fuzz_fopen(const char *path, const char *mode);

/* Each file opened is the next piece of the input; lines may hold any bytes. */
FILE *fuzz_fopen(const char *path, const char *mode)
{
	size_t size;
	char *piece = world_piece(&size);
	FILE *f = size ? tmpfile() : NULL;

	(void)path, (void)mode;
	if (f) {
		fwrite(piece, 1, size, f);
		rewind(f);
	}
	free(piece);
	errno = ENOENT;
	return f;
}
