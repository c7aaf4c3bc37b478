/* SPDX-License-Identifier: GPL-2.0 */
/* Offload features: which exist, which are on, and which can be changed. */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "lib/net/ethtool.h"
#include "lib/net/netlink.h"
#include "lib/util/grow.h"

#define MOST	1024	/* features; 6.18 has 64 */
#define SPARE	256	/* ETHTOOL_GSTRINGS writes all names, regardless of the requested number */

static struct ethtool_feature *feature_named(struct features *f, const char *name)
{
	struct ethtool_feature *more;

	for (unsigned i = 0; i < f->nr; i++)
		if (!strcmp(f->list[i].name, name))
			return &f->list[i];
	more = f->nr < MOST ? grow(f->list, f->nr, sizeof(*more)) : NULL;
	if (!more)
		return NULL;
	f->list = more;
	more[f->nr] = (struct ethtool_feature){};
	snprintf(more[f->nr].name, sizeof(more->name), "%s", name);
	return &more[f->nr++];
}

/* One bit of a bitset; without a mask, every bit listed is set. */
static void bit_read(struct features *f, const struct nlattr *nest, unsigned is, bool mask)
{
	const struct nlattr *name = attr_in(nest, ETHTOOL_A_BITSET_BIT_NAME);
	bool set = !mask || attr_in(nest, ETHTOOL_A_BITSET_BIT_VALUE);
	struct ethtool_feature *one = name && *mnl_attr_get_str(name) ?
				      feature_named(f, mnl_attr_get_str(name)) : NULL;

	if (one && set)
		one->is |= is;
}

static void set_read(struct features *f, const struct nlattr *nest, unsigned is)
{
	const struct nlattr *bits = attr_in(nest, ETHTOOL_A_BITSET_BITS), *bit;
	bool mask = !attr_in(nest, ETHTOOL_A_BITSET_NOMASK);

	if (bits)
		mnl_attr_for_each_nested(bit, bits)
			bit_read(f, bit, is, mask);
}

static int answer_read(const struct nlmsghdr *nlh, void *arg)
{
	static const unsigned is[] = {
		[ETHTOOL_A_FEATURES_HW] = FEATURE_CAN, [ETHTOOL_A_FEATURES_WANTED] = FEATURE_WANTED,
		[ETHTOOL_A_FEATURES_ACTIVE] = FEATURE_ON,
		[ETHTOOL_A_FEATURES_NOCHANGE] = FEATURE_FIXED,
	};
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		unsigned type = mnl_attr_get_type(attr);

		if (type < sizeof(is) / sizeof(*is) && is[type])
			set_read(arg, attr, is[type]);
	}
	return MNL_CB_OK;
}

/* The number of feature names in the kernel. */
static unsigned old_count(const struct iface *i)
{
	char buf[sizeof(struct ethtool_sset_info) + sizeof(__u32)]
		__attribute__((aligned(8))) = "";
	struct ethtool_sset_info *ask = (void *)buf;

	ask->cmd = ETHTOOL_GSSET_INFO;
	ask->sset_mask = 1ull << ETH_SS_FEATURES;
	return ethtool_ask(i->name, ask) || ask->data[0] > MOST ? 0 : ask->data[0];
}

static void old_add(struct features *f, const char *name,
		    const struct ethtool_get_features_block *b, unsigned bit)
{
	struct ethtool_feature *one = *name ? feature_named(f, name) : NULL;

	if (one)
		one->is = (b->available >> bit & 1 ? FEATURE_CAN : 0) |
			  (b->requested >> bit & 1 ? FEATURE_WANTED : 0) |
			  (b->active >> bit & 1 ? FEATURE_ON : 0) |
			  (b->never_changed >> bit & 1 ? FEATURE_FIXED : 0);
}

static int old_read(const struct iface *i, struct features *f)
{
	unsigned nr = old_count(i), blocks = (nr + 31) / 32;
	struct ethtool_gstrings *names = calloc(1, sizeof(*names) + (nr + SPARE) * ETH_GSTRING_LEN);
	struct ethtool_gfeatures *are = calloc(1, sizeof(*are) + blocks * sizeof(*are->features));
	int err = names && are ? nr ? 0 : -EOPNOTSUPP : -ENOMEM;

	if (!err) {
		names->cmd = ETHTOOL_GSTRINGS;
		names->string_set = ETH_SS_FEATURES;
		names->len = nr;
		are->cmd = ETHTOOL_GFEATURES;
		are->size = blocks;
		err = ethtool_ask(i->name, names) ?: ethtool_ask(i->name, are);
	}
	for (unsigned n = 0; !err && n < nr && n < names->len; n++) {
		char name[ETH_GSTRING_LEN + 1] = "";

		memcpy(name, names->data + n * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
		old_add(f, name, &are->features[n / 32], n % 32);
	}
	free(names);
	free(are);
	return err;
}

void features_read(const struct iface *i, struct features *f)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *request = ethtool_request(buf, ETHTOOL_MSG_FEATURES_GET, i);

	*f = (struct features){};
	f->err = request ? netlink_ask(NETLINK_GENERIC, request, answer_read, f) : old_read(i, f);
}

void features_free(struct features *f)
{
	free(f->list);
	*f = (struct features){};
}

int gro_read(const struct iface *i)
{
	struct ethtool_value gro = { .cmd = ETHTOOL_GGRO };

	return ethtool_ask(i->name, &gro) ?: !!gro.data;
}
