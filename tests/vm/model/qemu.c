/* SPDX-License-Identifier: GPL-2.0 */
/* Adds our network cards to a qemu that preloads this library: what it knows of them is here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "qemu.h"
#include "switches.h"

enum { MAX_CARDS = 8 };

struct model {
	const struct model_card *card;
	object *device;
	space *space;
	client *wire;
	struct nic_config nic;
	bool in_io;
	struct region registers, memory;
	struct switches switches;
	void *state;
	struct model *next;
};

struct later {
	struct timer timer;
	struct model *model;
	void (*then)(struct model *);
};

static const struct model_card *cards[MAX_CARDS];
static unsigned nr_cards;
static struct model *models;

/* Nothing of ours is in qemu's object: so its size needs not be known. */
static struct model *of(const object *device)
{
	struct model *m = models;

	while (m && m->device != device)
		m = m->next;
	return m;
}

void *model_state(struct model *m)
{
	return m->state;
}

struct switches *model_switches(struct model *m)
{
	return &m->switches;
}

const struct model_card *model_card(const struct model *m)
{
	return m->card;
}

const uint8_t *model_mac(const struct model *m)
{
	return m->nic.mac;
}

static bool move(struct model *m, uint64_t at, void *bytes, size_t size, bool write)
{
	bool may = pci_default_read_config(m->device, COMMAND, 2) & COMMAND_MASTER;

	return may &&
	       !address_space_rw(m->space, at, (struct attributes){ .unspecified = true }, bytes,
				 size, write);
}

bool model_load(struct model *m, uint64_t from, void *to, size_t size)
{
	return move(m, from, to, size, false);
}

bool model_store(struct model *m, uint64_t to, const void *from, size_t size)
{
	return move(m, to, (void *)from, size, true);
}

void model_interrupt(struct model *m, unsigned vector)
{
	if (vector < m->card->vectors)
		msix_notify(m->device, vector);
}

uint8_t *model_memory(struct model *m)
{
	return memory_region_get_ram_ptr(&m->memory);
}

void model_send(struct model *m, const uint8_t *frame, size_t size)
{
	qemu_send_packet(m->wire, frame, size);
}

void model_room(struct model *m)
{
	qemu_flush_queued_packets(m->wire);
}

int64_t model_now(void)
{
	return qemu_clock_get_ns(CLOCK_GUEST);
}

static void now(void *arg)
{
	struct later *l = arg;

	timer_deinit(&l->timer);
	l->then(l->model);
	free(l);
}

void model_later(struct model *m, int64_t ns, void (*then)(struct model *))
{
	struct later *l = calloc(1, sizeof(*l));

	if (!l)
		abort();
	l->model = m;
	l->then = then;
	timer_init_full(&l->timer, NULL, CLOCK_GUEST, 1, 0, now, l);
	timer_mod_ns(&l->timer, model_now() + ns);
}

static uint64_t register_read(void *arg, uint64_t at, unsigned size)
{
	struct model *m = arg;

	(void)size;
	return m->card->read(m, at);
}

static void register_write(void *arg, uint64_t at, uint64_t value, unsigned size)
{
	struct model *m = arg;

	(void)size;
	m->card->write(m, at, value);
}

static const struct region_ops register_ops = {
	.read = register_read,
	.write = register_write,
	.endian = LITTLE_ENDIAN_DEVICE,
	.valid = { .least = 4, .most = 8 },
	.here = { .least = 4, .most = 4 },
};

static uint32_t config_read(object *device, uint32_t at, int size)
{
	if (switch_at(at, size))
		return switch_read(&of(device)->switches, at);
	return pci_default_read_config(device, at, size);
}

static void config_write(object *device, uint32_t at, uint32_t value, int size)
{
	if (switch_at(at, size))
		switch_write(of(device), at, value);
	else
		pci_default_write_config(device, at, value, size);
}

static ssize_t from_wire(client *wire, const uint8_t *frame, size_t size)
{
	struct model *m = qemu_get_nic_opaque(wire);

	return m->card->receive(m, frame, size);
}

static struct client_info client_info = {
	.type = CLIENT_NIC,
	.size = 64,
	.receive = from_wire,
};

static void plugged(object *device, error **error)
{
	struct model *m = of(device);
	const struct model_card *card = m->card;
	unsigned i;

	if (!m->nic.peers.queues) {
		refuse(error, "%s needs a netdev", card->name);
		return;
	}
	memory_region_init_io(&m->registers, device, &register_ops, m, "registers",
			      card->registers);
	pci_register_bar(device, 0, 0, &m->registers);
	if (card->memory) {
		if (!memory_region_init_ram(&m->memory, device, "memory", card->memory, error))
			return;
		pci_register_bar(device, 2, 0, &m->memory);
	}
	if (msix_init_exclusive_bar(device, card->vectors, 3, error))
		return;
	for (i = 0; i < card->vectors; i++)
		msix_vector_use(device, i);
	m->space = pci_device_iommu_address_space(device);
	m->wire = qemu_get_queue(qemu_new_nic(&client_info, &m->nic, card->name, NULL, &m->in_io,
					      m));
}

static void reset(object *device)
{
	struct model *m = of(device);

	m->card->reset(m);
}

static void made(object *device)
{
	const char *name = object_get_typename(device);
	struct model *m = calloc(1, sizeof(*m));
	unsigned i;

	for (i = 0; strcmp(cards[i]->name, name); i++)
		;
	if (!m || !(m->state = calloc(1, cards[i]->state)))
		abort();
	m->card = cards[i];
	m->device = device;
	m->next = models;
	models = m;
}

static void unmade(object *device)
{
	struct model *m = of(device), **at = &models;

	while (*at != m)
		at = &(*at)->next;
	*at = m->next;
	model_forget(m, -1);
	free(m->state);
	free(m);
}

static void set_netdev(object *device, const char *id, error **error)
{
	struct model *m = of(device);

	m->nic.peers.clients[0] = qemu_find_netdev(id);
	m->nic.peers.queues = 1;
	if (!m->nic.peers.clients[0])
		refuse(error, "there is no netdev \"%s\"", id);
}

static void set_mac(object *device, const char *text, error **error)
{
	uint8_t *mac = of(device)->nic.mac;
	const char *at = text;
	char *end;
	unsigned i;

	for (i = 0; i < 6; i++, at = end + 1) {
		mac[i] = strtoul(at, &end, 16);
		if (end != at + 2 || *end != (i < 5 ? ':' : '\0')) {
			refuse(error, "\"%s\" is no MAC address", text);
			return;
		}
	}
}

static void class_made(struct device_class *class, void *arg)
{
	const struct model_card *card = arg;

	/* What the parent set: the layout is the one that we know. */
	if (strcmp(class->bus, "PCI") || !class->realize || !class->user_creatable) {
		error_report("%s: this qemu's devices are not laid out as those of 10.0",
			     card->name);
		exit(1);
	}
	class->description = "nicprobe's model of it";
	class->hotpluggable = false;
	class->plugged = plugged;
	class->config_read = config_read;
	class->config_write = config_write;
	class->vendor = card->vendor;
	class->device = card->device;
	class->revision = card->revision;
	class->type = 0x0200;		/* Ethernet */
	device_class_set_legacy_reset(class, reset);
	object_class_property_add_str(class, "netdev", NULL, set_netdev);
	object_class_property_add_str(class, "mac", NULL, set_mac);
}

void model_register(const struct model_card *card)
{
	if (nr_cards == MAX_CARDS)
		abort();
	cards[nr_cards++] = card;
}

static void register_types(void)
{
	static const struct interface interfaces[] = { { "conventional-pci-device" }, {} };
	static struct type types[MAX_CARDS];
	const struct version *v = qmp_query_version(NULL);
	unsigned i;

	if (v->qemu->major != 10 || v->qemu->minor != 0) {
		error_report("the cards of tests/vm/model know only qemu 10.0, this is %d.%d",
			     (int)v->qemu->major, (int)v->qemu->minor);
		exit(1);
	}
	for (i = 0; i < nr_cards; i++) {
		types[i] = (struct type){
			.name = cards[i]->name,
			.parent = "pci-device",
			.made = made,
			.unmade = unmade,
			.class_made = class_made,
			.class_arg = (void *)cards[i],
			.interfaces = interfaces,
		};
		type_register_static(&types[i]);
	}
}

static void __attribute__((constructor)) preloaded(void)
{
	register_module_init(register_types, INIT_TYPES);
}
