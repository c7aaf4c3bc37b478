/* SPDX-License-Identifier: GPL-2.0 */
/* Receive side scaling: indirection table, key, and hashed fields. */
#include <errno.h>
#include <linux/ethtool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/net/ethtool.h"
#include "lib/net/netlink.h"
#include "lib/util/list.h"

/* From include/uapi/linux/ethtool_netlink.h, 6.3 and 6.8; Debian 12's headers are older. */
enum { MSG_RSS_GET = 38 };
enum { RSS_HFUNC = 3, RSS_INDIR, RSS_HKEY, RSS_INPUT_XFRM };

const char *const hashed_names[] = { "tcp4", "udp4", "tcp6", "udp6" };
ONE_EACH(hashed_names, NR_HASHED);

/* Bit N of the function is entry N of ETH_SS_RSS_HASH_FUNCS. */
static const char *function_name(unsigned bits)
{
	static const char *const names[] = { "toeplitz", "xor", "crc32" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (bits >> i & 1)
			return names[i];
	return bits ? "unknown" : "";
}

static void table_set(struct rss *r, const void *table, unsigned nr)
{
	r->nr = nr < MAX_RSS_TABLE ? nr : MAX_RSS_TABLE;
	r->table = calloc(r->nr + 1, sizeof(*r->table));
	if (r->table)
		memcpy(r->table, table, r->nr * sizeof(*r->table));
	else
		r->nr = 0;
}

static void key_set(struct rss *r, const void *key, unsigned size)
{
	r->key_size = size < MAX_RSS_KEY ? size : MAX_RSS_KEY;
	memcpy(r->key, key, r->key_size);
}

static int answer_read(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *table = genl_attr(nlh, RSS_INDIR), *key = genl_attr(nlh, RSS_HKEY);
	struct rss *r = arg;

	r->function = function_name(attr_number(genl_attr(nlh, RSS_HFUNC), 0));
	r->symmetric = attr_number(genl_attr(nlh, RSS_INPUT_XFRM), 0);
	if (table && !r->table)
		table_set(r, mnl_attr_get_payload(table),
			  mnl_attr_get_payload_len(table) / sizeof(__u32));
	if (key)
		key_set(r, mnl_attr_get_payload(key), mnl_attr_get_payload_len(key));
	return MNL_CB_OK;
}

/* The first answer gives the sizes of table and key. */
static int old_read(const struct iface *i, struct rss *r)
{
	struct ethtool_rxfh size = { .cmd = ETHTOOL_GRSSH }, *all;
	int err = ethtool_ask(i->name, &size);

	if (err)
		return err;
	if (size.indir_size > 1 << 20 || size.key_size > 1 << 20)
		return -EOVERFLOW;
	all = calloc(1, sizeof(*all) + size.indir_size * sizeof(__u32) + size.key_size);
	if (!all)
		return -ENOMEM;
	*all = size;
	all->cmd = ETHTOOL_GRSSH;
	err = ethtool_ask(i->name, all);
	if (!err) {
		if (size.indir_size)
			table_set(r, all->rss_config, size.indir_size);
		key_set(r, all->rss_config + size.indir_size, size.key_size);
		r->function = function_name(all->hfunc);
	}
	free(all);
	return err;
}

/* Things that netlink lacks, or has only since 6.17. */
static void hashed_read(const struct iface *i, struct rss *r)
{
	static const unsigned flows[] = { TCP_V4_FLOW, UDP_V4_FLOW, TCP_V6_FLOW, UDP_V6_FLOW };

	for (unsigned n = 0; n < NR_HASHED; n++) {
		struct ethtool_rxnfc ask = { .cmd = ETHTOOL_GRXFH, .flow_type = flows[n] };

		r->hashed[n] = ethtool_ask(i->name, &ask) ? -1 : (long long)ask.data;
	}
}

long long rss_rules(const struct iface *i)
{
	struct ethtool_rxnfc count = { .cmd = ETHTOOL_GRXCLSRLCNT };

	return ethtool_ask(i->name, &count) ? -1 : (long long)count.rule_cnt;
}

void rss_read(const struct iface *i, struct rss *r)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *request = ethtool_request(buf, MSG_RSS_GET, i);

	*r = (struct rss){ .err = -EOPNOTSUPP, .function = "", .rules = -1 };
	if (request)
		r->err = netlink_ask(NETLINK_GENERIC, request, answer_read, r);
	/* 6.1 lacks this command; if the driver lacks it, the ioctl reports that again */
	if (r->err) {
		rss_free(r);
		r->err = old_read(i, r);
	}
	hashed_read(i, r);
	if (!r->err && !r->nr && !r->key_size && !*r->function)
		r->err = -EOPNOTSUPP;
}

void rss_free(struct rss *r)
{
	free(r->table);
	r->table = NULL;
	r->nr = 0;
}
