/* SPDX-License-Identifier: GPL-2.0 */
/* Settings that ethtool(8) reads, by tables of netlink attributes and ioctl struct offsets. */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <string.h>

#include "lib/net/ethtool.h"
#include "lib/net/netlink.h"

/* Newer than the headers of 6.1: from 6.3, 6.3, 6.3, 6.14, 6.14 */
enum { RINGS_RX_PUSH = 14, RINGS_TX_PUSH_BUF, RINGS_TX_PUSH_BUF_MAX, RINGS_HDS, RINGS_HDS_MAX };
enum { COALESCE_TX_BYTES = 28, COALESCE_TX_FRAMES, COALESCE_TX_TIME };	/* …-aggr-…, 6.3 */

#define NR(list) (sizeof(list) / sizeof(*(list)))
#define OLD(type, field) offsetof(struct type, field), sizeof(((struct type *)0)->field)
#define GROUP(id, said, what, old)				\
	const struct setting_group group_##id = {		\
		.name = said, .message = ETHTOOL_MSG_##what##_GET, .ioctl = old,	\
		.list = id##_list, .nr = NR(id##_list),		\
	}

#define LINK(name, attr, field) \
	{ name, ETHTOOL_A_LINKMODES_##attr, SETTING_NUMBER, OLD(ethtool_link_settings, field) }
static const struct ethtool_setting link_list[] = {
	LINK("speed", SPEED, speed), LINK("duplex", DUPLEX, duplex),
	LINK("autoneg", AUTONEG, autoneg),
	{ "lanes", ETHTOOL_A_LINKMODES_LANES, SETTING_NUMBER, 0, 0 },
};
GROUP(link, "link", LINKMODES, ETHTOOL_GLINKSETTINGS);

static const struct ethtool_setting port_list[] = {
	{ "port", ETHTOOL_A_LINKINFO_PORT, SETTING_NUMBER, OLD(ethtool_link_settings, port) },
};
GROUP(port, "port", LINKINFO, ETHTOOL_GLINKSETTINGS);

static const struct ethtool_setting fec_list[] = {
	{ "active", ETHTOOL_A_FEC_ACTIVE, SETTING_NUMBER, 0, 0 },
	{ "auto", ETHTOOL_A_FEC_AUTO, SETTING_FLAG, 0, 0 },
};
GROUP(fec, "FEC", FEC, 0);

#define PAUSE(name, attr, field) \
	{ name, ETHTOOL_A_PAUSE_##attr, SETTING_FLAG, OLD(ethtool_pauseparam, field) }
static const struct ethtool_setting pause_list[] = {
	PAUSE("rx", RX, rx_pause), PAUSE("tx", TX, tx_pause), PAUSE("autoneg", AUTONEG, autoneg),
};
GROUP(pause, "pause frames", PAUSE, ETHTOOL_GPAUSEPARAM);

#define RING(name, attr, field) \
	{ name, ETHTOOL_A_RINGS_##attr, SETTING_NUMBER, OLD(ethtool_ringparam, field) }
static const struct ethtool_setting rings_list[] = {
	RING("rx", RX, rx_pending), RING("rx-max", RX_MAX, rx_max_pending),
	RING("rx-mini", RX_MINI, rx_mini_pending),
	RING("rx-mini-max", RX_MINI_MAX, rx_mini_max_pending),
	RING("rx-jumbo", RX_JUMBO, rx_jumbo_pending),
	RING("rx-jumbo-max", RX_JUMBO_MAX, rx_jumbo_max_pending),
	RING("tx", TX, tx_pending), RING("tx-max", TX_MAX, tx_max_pending),
	{ "rx-buf-len", ETHTOOL_A_RINGS_RX_BUF_LEN, SETTING_NUMBER, 0, 0 },
	{ "cqe-size", ETHTOOL_A_RINGS_CQE_SIZE, SETTING_NUMBER, 0, 0 },
	{ "tx-push", ETHTOOL_A_RINGS_TX_PUSH, SETTING_FLAG, 0, 0 },
	{ "rx-push", RINGS_RX_PUSH, SETTING_FLAG, 0, 0 },
	{ "tx-push-buf-len", RINGS_TX_PUSH_BUF, SETTING_NUMBER, 0, 0 },
	{ "tx-push-buf-len-max", RINGS_TX_PUSH_BUF_MAX, SETTING_NUMBER, 0, 0 },
	/* 0: not reported, 1: off, 2: on */
	{ "tcp-data-split", ETHTOOL_A_RINGS_TCP_DATA_SPLIT, SETTING_NUMBER, 0, 0 },
	{ "hds-thresh", RINGS_HDS, SETTING_NUMBER, 0, 0 },
	{ "hds-thresh-max", RINGS_HDS_MAX, SETTING_NUMBER, 0, 0 },
};
GROUP(rings, "rings", RINGS, ETHTOOL_GRINGPARAM);

#define CHANNEL(name, attr, field) \
	{ name, ETHTOOL_A_CHANNELS_##attr, SETTING_NUMBER, OLD(ethtool_channels, field) }
static const struct ethtool_setting channels_list[] = {
	CHANNEL("rx", RX_COUNT, rx_count), CHANNEL("rx-max", RX_MAX, max_rx),
	CHANNEL("tx", TX_COUNT, tx_count), CHANNEL("tx-max", TX_MAX, max_tx),
	CHANNEL("combined", COMBINED_COUNT, combined_count),
	CHANNEL("combined-max", COMBINED_MAX, max_combined),
	CHANNEL("other", OTHER_COUNT, other_count), CHANNEL("other-max", OTHER_MAX, max_other),
};
GROUP(channels, "channels", CHANNELS, ETHTOOL_GCHANNELS);

#define COALESCE(name, attr, field) \
	{ name, ETHTOOL_A_COALESCE_##attr, SETTING_NUMBER, OLD(ethtool_coalesce, field) }
#define ADAPTIVE(name, attr, field) \
	{ name, ETHTOOL_A_COALESCE_##attr, SETTING_FLAG, OLD(ethtool_coalesce, field) }
static const struct ethtool_setting coalesce_list[] = {
	ADAPTIVE("adaptive-rx", USE_ADAPTIVE_RX, use_adaptive_rx_coalesce),
	ADAPTIVE("adaptive-tx", USE_ADAPTIVE_TX, use_adaptive_tx_coalesce),
	COALESCE("rx-usecs", RX_USECS, rx_coalesce_usecs),
	COALESCE("rx-frames", RX_MAX_FRAMES, rx_max_coalesced_frames),
	COALESCE("rx-usecs-irq", RX_USECS_IRQ, rx_coalesce_usecs_irq),
	COALESCE("rx-frames-irq", RX_MAX_FRAMES_IRQ, rx_max_coalesced_frames_irq),
	COALESCE("tx-usecs", TX_USECS, tx_coalesce_usecs),
	COALESCE("tx-frames", TX_MAX_FRAMES, tx_max_coalesced_frames),
	COALESCE("tx-usecs-irq", TX_USECS_IRQ, tx_coalesce_usecs_irq),
	COALESCE("tx-frames-irq", TX_MAX_FRAMES_IRQ, tx_max_coalesced_frames_irq),
	COALESCE("stats-block-usecs", STATS_BLOCK_USECS, stats_block_coalesce_usecs),
	COALESCE("pkt-rate-low", PKT_RATE_LOW, pkt_rate_low),
	COALESCE("rx-usecs-low", RX_USECS_LOW, rx_coalesce_usecs_low),
	COALESCE("rx-frames-low", RX_MAX_FRAMES_LOW, rx_max_coalesced_frames_low),
	COALESCE("tx-usecs-low", TX_USECS_LOW, tx_coalesce_usecs_low),
	COALESCE("tx-frames-low", TX_MAX_FRAMES_LOW, tx_max_coalesced_frames_low),
	COALESCE("pkt-rate-high", PKT_RATE_HIGH, pkt_rate_high),
	COALESCE("rx-usecs-high", RX_USECS_HIGH, rx_coalesce_usecs_high),
	COALESCE("rx-frames-high", RX_MAX_FRAMES_HIGH, rx_max_coalesced_frames_high),
	COALESCE("tx-usecs-high", TX_USECS_HIGH, tx_coalesce_usecs_high),
	COALESCE("tx-frames-high", TX_MAX_FRAMES_HIGH, tx_max_coalesced_frames_high),
	COALESCE("sample-interval", RATE_SAMPLE_INTERVAL, rate_sample_interval),
	{ "cqe-mode-rx", ETHTOOL_A_COALESCE_USE_CQE_MODE_RX, SETTING_FLAG, 0, 0 },
	{ "cqe-mode-tx", ETHTOOL_A_COALESCE_USE_CQE_MODE_TX, SETTING_FLAG, 0, 0 },
	{ "tx-aggr-max-bytes", COALESCE_TX_BYTES, SETTING_NUMBER, 0, 0 },
	{ "tx-aggr-max-frames", COALESCE_TX_FRAMES, SETTING_NUMBER, 0, 0 },
	{ "tx-aggr-time-usecs", COALESCE_TX_TIME, SETTING_NUMBER, 0, 0 },
};
GROUP(coalesce, "coalescing", COALESCE, ETHTOOL_GCOALESCE);

struct nlmsghdr *ethtool_request(char *buf, unsigned message, const struct iface *i)
{
	int family = netlink_family(ETHTOOL_GENL_NAME);
	struct nlmsghdr *request;
	struct nlattr *header;

	if (family < 0)
		return NULL;
	request = netlink_request(buf, family, NLM_F_ACK, message);
	/* ETHTOOL_A_…_HEADER is 1 in every request */
	header = mnl_attr_nest_start(request, 1);
	mnl_attr_put_u32(request, ETHTOOL_A_HEADER_DEV_INDEX, i->ifindex);
	mnl_attr_nest_end(request, header);
	return request;
}

struct answer {
	const struct setting_group *group;
	struct settings *to;
};

static int answer_read(const struct nlmsghdr *nlh, void *arg)
{
	const struct answer *a = arg;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		for (unsigned i = 0; i < a->group->nr; i++) {
			unsigned len = mnl_attr_get_payload_len(attr);

			if (mnl_attr_get_type(attr) != a->group->list[i].attr)
				continue;
			if (len == 1)
				a->to->value[i] = mnl_attr_get_u8(attr);
			else if (len == 4)
				a->to->value[i] = mnl_attr_get_u32(attr);
		}
	return MNL_CB_OK;
}

/* Works for any struct; link settings take two requests, the first of which returns their size. */
static int old_ask(const struct iface *i, const struct setting_group *g, __u32 *answer)
{
	struct ethtool_link_settings *link = (void *)answer;
	int err;

	if (!g->ioctl)
		return -EOPNOTSUPP;
	*answer = g->ioctl;
	err = ethtool_ask(i->name, answer);
	if (!err && g->ioctl == ETHTOOL_GLINKSETTINGS && link->link_mode_masks_nwords < 0) {
		link->link_mode_masks_nwords = -link->link_mode_masks_nwords;
		err = ethtool_ask(i->name, answer);
	}
	return err;
}

static void settings_forget(struct settings *s)
{
	*s = (struct settings){};
	for (unsigned n = 0; n < MAX_SETTINGS; n++)
		s->value[n] = NOT_TOLD;
}

void settings_read_old(const struct iface *i, const struct setting_group *g, struct settings *s)
{
	__u32 answer[1024] = {};	/* larger than any of them */

	settings_forget(s);
	s->err = old_ask(i, g, answer);
	for (unsigned n = 0; !s->err && n < g->nr; n++) {
		const void *from = (char *)answer + g->list[n].at;

		if (g->list[n].size == 1)
			s->value[n] = *(const __u8 *)from;
		else if (g->list[n].size == 4)
			s->value[n] = *(const __u32 *)from;
	}
}

void settings_read(const struct iface *i, const struct setting_group *g, struct settings *s)
{
	struct answer answer = { g, s };
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *request = ethtool_request(buf, g->message, i);

	settings_forget(s);
	if (request)
		s->err = netlink_ask(NETLINK_GENERIC, request, answer_read, &answer);
	else
		settings_read_old(i, g, s);
}

long long setting_of(const struct setting_group *g, const struct settings *s, const char *name)
{
	for (unsigned i = 0; i < g->nr; i++)
		if (!strcmp(g->list[i].name, name))
			return s->value[i];
	return NOT_TOLD;
}

unsigned long speed_of(const struct settings *link)
{
	long long mbit = setting_of(&group_link, link, "speed");

	return mbit <= 0 || mbit == (__u32)SPEED_UNKNOWN ? 0 : mbit;
}
