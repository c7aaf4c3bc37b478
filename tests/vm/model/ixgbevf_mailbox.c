/* SPDX-License-Identifier: GPL-2.0 */
/* The physical function behind X550's virtual one: answers its mail, lets frames through to it. */
#include <string.h>

#include "ixgbevf.h"

enum {					/* VFMAILBOX */
	REQUEST = 1, OURS = 4, THEIRS = 8, PF_WROTE = 0x10, PF_READ = 0x20, RESET_DONE = 0x80,
	CLEARED_BY_READ = 0xb0,
};

enum {					/* the first word of a message */
	SUCCESS = 1U << 31, FAILURE = 1 << 30, MAY_ASK = 1 << 29,
	KIND = 0xffff, MORE = 16,	/* a shift: what there is of it */
};

enum {
	RESET = 1, SET_MAC, SET_MULTICAST, SET_VLAN, SET_LONGEST, SET_MORE_MACS,
	NEGOTIATE = 8, GET_QUEUES, SET_MODE = 0xc, GET_LINK_STATE = 0x10,
};

/* Versions of the mailbox: 1.0 to 1.4, as Linux's ixgbe has them up to 6.12; 2.0 is Solaris's. */
enum { VERSION_1_0, VERSION_2_0, VERSION_1_1, VERSION_1_4 = 5 };

enum { FCS = 4, TAG = 4 };

static void begin(struct model *m)
{
	struct ixgbevf *v = model_state(m);

	memset(&v->filter, 0, sizeof(v->filter));
	memcpy(v->filter.mac, model_mac(m), MAC_SIZE);
	v->filter.longest = 1518;
	v->filter.mode = MODE_MULTICAST;
	v->filter.met = true;
}

static void set_more_macs(struct filter *f, unsigned nr, const uint32_t *message)
{
	if (nr <= 1)
		f->nr_more = 0;
	if (nr && f->nr_more < MORE_MACS)
		memcpy(f->more[f->nr_more++], message + 1, MAC_SIZE);
}

/* So many of 30 hashes, 16 bits each. */
static void set_multicast(struct filter *f, unsigned nr, const uint32_t *message)
{
	memset(f->multicast, 0, sizeof(f->multicast));
	for (unsigned i = 0; i < nr && i < 30; i++) {
		unsigned hash = message[1 + i / 2] >> (16 * (i % 2)) & 0xfff;

		f->multicast[hash / 32] |= 1U << hash % 32;
	}
}

static void set_vlan(struct filter *f, bool on, unsigned vlan)
{
	f->vlans[vlan / 32] &= ~(1U << vlan % 32);
	f->vlans[vlan / 32] |= (uint32_t)on << vlan % 32;
}

static bool negotiate(uint32_t version)
{
	return version <= VERSION_1_4 && version != VERSION_2_0;
}

/* Answers in place. Refused: what is not here, as IPsec. */
static bool answer(struct filter *f, uint32_t *message)
{
	unsigned more = message[0] >> MORE & 0xff;

	switch (message[0] & KIND) {
	case SET_MAC:
		memcpy(f->mac, message + 1, MAC_SIZE);
		return true;
	case SET_MORE_MACS:
		set_more_macs(f, more, message);
		return true;
	case SET_MULTICAST:
		set_multicast(f, more, message);
		return true;
	case SET_VLAN:
		set_vlan(f, more, message[1] & 0xfff);
		return true;
	case SET_LONGEST:
		f->longest = message[1];
		return true;
	case SET_MODE:
		f->mode = message[1];
		return f->mode <= MODE_ALL;
	case NEGOTIATE:
		return negotiate(message[1]);
	case GET_QUEUES:		/* TX, RX, traffic classes, the default queue */
		memcpy(message + 1, (uint32_t[]){ ALLOWED, ALLOWED, 0, 0 }, 16);
		return true;
	case GET_LINK_STATE:
		message[1] = 1;
		return true;
	}
	return false;
}

static void request(struct model *m)
{
	struct ixgbevf *v = model_state(m);
	uint32_t *message = &v->registers[VFMBMEM / 4];

	if ((message[0] & KIND) == RESET) {
		begin(m);
		memcpy(message + 1, v->filter.mac, MAC_SIZE);
		message[3] = 0;		/* a multicast's hash is made of its last 12 bits */
		message[0] |= SUCCESS;
	} else if (!v->filter.met) {
		message[0] |= FAILURE;
	} else {
		message[0] |= (answer(&v->filter, message) ? SUCCESS : FAILURE) | MAY_ASK;
	}
	v->mailbox |= PF_WROTE | PF_READ;
	ixgbevf_mailbox_news(m);
}

void ixgbevf_mailbox_write(struct model *m, uint32_t value)
{
	struct ixgbevf *v = model_state(m);

	v->mailbox = (v->mailbox & ~OURS) | (value & OURS);
	if (value & REQUEST)
		request(m);
}

uint32_t ixgbevf_mailbox_read(struct model *m)
{
	struct ixgbevf *v = model_state(m);
	uint32_t value = v->mailbox;

	v->mailbox &= ~CLEARED_BY_READ;
	return value;
}

void ixgbevf_mailbox_reset(struct model *m)
{
	struct ixgbevf *v = model_state(m);

	v->mailbox = RESET_DONE;
}

static bool for_mac(const struct filter *f, const uint8_t *mac)
{
	unsigned hash = mac[4] >> 4 | mac[5] << 4;

	if (f->mode == MODE_ALL || !memcmp(mac, f->mac, MAC_SIZE))
		return true;
	if (!memcmp(mac, "\xff\xff\xff\xff\xff\xff", MAC_SIZE))
		return f->mode >= MODE_MULTICAST;
	if (mac[0] & 1)
		return f->mode == MODE_ALL_MULTICAST ||
		       (f->mode == MODE_MULTICAST && f->multicast[hash / 32] >> hash % 32 & 1);
	for (unsigned i = 0; i < f->nr_more; i++)
		if (!memcmp(mac, f->more[i], MAC_SIZE))
			return true;
	return false;
}

bool ixgbevf_passes(const struct ixgbevf *v, const uint8_t *frame, size_t size)
{
	const struct filter *f = &v->filter;
	bool tagged = frame[12] == 0x81 && frame[13] == 0;
	unsigned vlan = (frame[14] << 8 | frame[15]) & 0xfff;

	if (!f->met || size + FCS > f->longest + (tagged ? TAG : 0))
		return false;
	if (tagged && f->mode != MODE_ALL && !(f->vlans[vlan / 32] >> vlan % 32 & 1))
		return false;
	return for_mac(f, frame);
}
