/* SPDX-License-Identifier: GPL-2.0 */
/* Reads what `ethtool -S` shows: names by netlink or ioctl, values by ioctl. */
#include <ctype.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <stdlib.h>
#include <string.h>

#include "lib/net/iface.h"
#include "lib/net/netlink.h"
#include "lib/net/statistics.h"

#define MOST	(1u << 20)	/* statistics; a larger number is invalid */
#define SPARE	4096		/* in case the driver has got more queues and writes more */

struct stat_strings {
	unsigned nr, room;
	char (*list)[ETH_GSTRING_LEN + 1];
};

static bool make_room(struct stat_strings *n, unsigned nr)
{
	void *more = nr > MOST ? NULL : calloc(nr + 1, sizeof(*n->list));

	if (!more)
		return false;
	free(n->list);
	n->list = more;
	n->room = nr;
	return true;
}

static void string_read(const struct nlattr *string, struct stat_strings *n)
{
	const struct nlattr *value = attr_in(string, ETHTOOL_A_STRING_VALUE);
	uint64_t index = attr_number(attr_in(string, ETHTOOL_A_STRING_INDEX), ~0ull);

	if (index >= n->room || !value)
		return;
	attr_text(value, n->list[index], sizeof(*n->list));
	if (index >= n->nr)
		n->nr = index + 1;
}

static void set_read(const struct nlattr *set, struct stat_strings *n)
{
	const struct nlattr *count = attr_in(set, ETHTOOL_A_STRINGSET_COUNT);
	const struct nlattr *strings = attr_in(set, ETHTOOL_A_STRINGSET_STRINGS), *string;

	if (count)
		make_room(n, attr_number(count, 0));
	if (strings)
		mnl_attr_for_each_nested(string, strings)
			string_read(string, n);
}

static int sets_read(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *sets = genl_attr(nlh, ETHTOOL_A_STRSET_STRINGSETS), *set;

	if (sets)
		mnl_attr_for_each_nested(set, sets)
			set_read(set, arg);
	return MNL_CB_OK;
}

/* Linux 5.6. Thousands of names exceed an answer: the ioctl reads them then. */
static int names_by_netlink(const char *iface, struct stat_strings *n)
{
	int family = netlink_family("ethtool");
	struct nlattr *header, *sets, *set;
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *request;
	int err;

	if (family < 0)
		return family;
	request = netlink_request(buf, family, NLM_F_ACK, ETHTOOL_MSG_STRSET_GET);
	header = mnl_attr_nest_start(request, ETHTOOL_A_STRSET_HEADER);
	mnl_attr_put_strz(request, ETHTOOL_A_HEADER_DEV_NAME, iface);
	mnl_attr_nest_end(request, header);
	sets = mnl_attr_nest_start(request, ETHTOOL_A_STRSET_STRINGSETS);
	set = mnl_attr_nest_start(request, ETHTOOL_A_STRINGSETS_STRINGSET);
	mnl_attr_put_u32(request, ETHTOOL_A_STRINGSET_ID, ETH_SS_STATS);
	mnl_attr_nest_end(request, set);
	mnl_attr_nest_end(request, sets);
	err = netlink_ask(NETLINK_GENERIC, request, sets_read, n);
	return err ?: n->nr == n->room ? 0 : -ENODATA;
}

/* How many statistics there are. 0 or -errno. */
static int count_read(const char *iface, unsigned *nr)
{
	/* struct ethtool_sset_info, with room for one number behind it */
	struct {
		uint32_t cmd, reserved;
		uint64_t sset_mask;
		uint32_t nr;
	} count = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1 << ETH_SS_STATS };
	int err = ethtool_ask(iface, &count);

	*nr = err || !count.sset_mask ? 0 : count.nr;
	return err == -EOPNOTSUPP ? 0 : err;
}

static int names_by_ioctl(const char *iface, struct stat_strings *n, unsigned nr)
{
	struct ethtool_gstrings *strings;
	int err;

	n->nr = 0;
	if (nr > MOST)
		return -ENOMEM;
	strings = calloc(1, sizeof(*strings) + (size_t)(nr + SPARE) * ETH_GSTRING_LEN);
	if (!strings || !make_room(n, nr)) {
		free(strings);
		return -ENOMEM;
	}
	strings->cmd = ETHTOOL_GSTRINGS;
	strings->string_set = ETH_SS_STATS;
	strings->len = nr;
	err = ethtool_ask(iface, strings);
	for (; !err && n->nr < nr && n->nr < strings->len; n->nr++)
		memcpy(n->list[n->nr], strings->data + n->nr * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
	free(strings);
	return err;
}

int ethtool_stats_each(const char *iface, int (*each)(const char *name, uint64_t value, void *arg),
		       void *arg)
{
	struct ethtool_stats *stats = NULL;
	struct stat_strings n = {};
	unsigned nr;
	int err = count_read(iface, &nr);

	if (!err && nr && names_by_netlink(iface, &n))
		err = names_by_ioctl(iface, &n, nr);
	if (!err && n.nr) {
		stats = calloc(1, sizeof(*stats) + (size_t)(n.nr + SPARE) * sizeof(uint64_t));
		err = stats ? 0 : -ENOMEM;
	}
	if (stats) {	/* values are not in netlink */
		stats->cmd = ETHTOOL_GSTATS;
		stats->n_stats = n.nr;
		err = ethtool_ask(iface, stats);
	}
	for (unsigned i = 0; !err && i < n.nr && i < stats->n_stats; i++)
		err = each(n.list[i], stats->data[i], arg);
	free(stats);
	free(n.list);
	return err;
}

bool stat_match(const char *pattern, const char *name, int *queue)
{
	*queue = STAT_NO_QUEUE;
	for (; *pattern; pattern++) {
		char *end;

		if (pattern[0] != '%') {
			if (*pattern != *name++)
				return false;
			continue;
		}
		if (!isdigit((unsigned char)*name))
			return false;
		*queue = strtoul(name, &end, 10) % MAX_QUEUES;
		name = end;
		pattern++;
	}
	return !*name;
}

static enum stat_way way_of(const char *name)
{
	name += strspn(name, " ");
	if (!strncmp(name, "rx", 2) || !strncmp(name, "xdp", 3))
		return STAT_RX;
	return strncmp(name, "tx", 2) ? STAT_NEITHER : STAT_TX;
}

struct stat_meaning stat_meaning(const struct driver *driver, struct stat_heading *h,
				 const char *name, uint64_t value)
{
	struct stat_meaning m = { .way = way_of(name), .queue = STAT_NO_QUEUE };

	if (!strcmp(name, "Tx Queue#") || !strcmp(name, "Rx Queue#")) {
		*h = (struct stat_heading){ *name == 'T' ? STAT_TX : STAT_RX, value % MAX_QUEUES,
					    true };
		return m;
	}
	for (const struct driver_stat *s = driver->stats; s && s->name && !m.as; s++) {
		if (!stat_match(s->name, name, &m.queue))
			continue;
		m.as = stat_find(s->as);
		m.level = s->level;
		m.way = strchr(s->name, '%') ? (strstr(s->name, "%t") ? STAT_TX : STAT_RX) :
			way_of(s->as);
	}
	if (!m.as)
		m.queue = STAT_NO_QUEUE;
	if (*name == ' ' && h->any) {
		m.way = h->way;
		m.queue = h->queue;
	} else if (*name != ' ') {
		h->any = false;
	}
	return m;
}
