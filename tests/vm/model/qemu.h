/* SPDX-License-Identifier: GPL-2.0 */
/* What our network cards need of qemu 10.0, whose functions a preloaded library can call. */
#ifndef NICPROBE_QEMU_H
#define NICPROBE_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Only passed on. */
typedef struct error error;
typedef struct object object;		/* of a PCI device */
typedef struct client client;		/* an end of a network cable */
typedef struct clients clients;		/* all ends that a card has */
typedef struct space space;		/* addresses as a device sees them */

/* Versions: the layouts below are those of 10.0, on a 64-bit machine. */
struct version {
	struct {
		int64_t major, minor, micro;
	} *qemu;
};
struct version *qmp_query_version(error **);
void error_report(const char *format, ...) __attribute__((format(printf, 1, 2)));
void error_setg_internal(error **, const char *file, int line, const char *function,
			 const char *format, ...) __attribute__((format(printf, 5, 6)));
#define refuse(error, ...) error_setg_internal(error, __FILE__, __LINE__, __func__, __VA_ARGS__)

/* Types. */
enum { INIT_TYPES = 3 };
void register_module_init(void (*init)(void), int when);

/* Of a device: what is common to all, and what to those on a PCI bus. */
struct device_class {
	void *object[12];
	unsigned long categories;
	const char *firmware, *description;
	const void *properties;
	uint16_t nr_properties;
	bool user_creatable, hotpluggable;
	void *reset, *realize, *unrealize, *sync, *migration;
	const char *bus;
	void (*plugged)(object *, error **);
	void *unplugged;
	uint32_t (*config_read)(object *, uint32_t at, int size);
	void (*config_write)(object *, uint32_t at, uint32_t value, int size);
	uint16_t vendor, device;
	uint8_t revision;
	uint16_t type, subsystem_vendor, subsystem;
	const char *rom;
};

struct interface {
	const char *name;
};

struct type {
	const char *name, *parent;
	size_t size, align;			/* 0: as its parent */
	void (*made)(object *);
	void *made_whole, *unmade;
	bool abstract;
	size_t class_size;
	void (*class_made)(struct device_class *, void *arg);
	void *class_base_made;
	void *class_arg;
	const struct interface *interfaces;
};
void *type_register_static(const struct type *);
const char *object_get_typename(const object *);
void *object_class_property_add_str(struct device_class *, const char *name,
				    char *(*get)(object *, error **),
				    void (*set)(object *, const char *, error **));
void device_class_set_legacy_reset(struct device_class *, void (*)(object *));

/* Registers and memory. */
enum { LITTLE_ENDIAN_DEVICE = 2 };
struct region_ops {
	uint64_t (*read)(void *arg, uint64_t at, unsigned size);
	void (*write)(void *arg, uint64_t at, uint64_t value, unsigned size);
	void *read_attributes, *write_attributes;
	int endian;
	struct {
		unsigned least, most;
		bool unaligned;
		void *accepts;
	} valid;
	struct {
		unsigned least, most;
		bool unaligned;
	} here;
};

struct region {
	_Alignas(16) char bytes[1024];		/* more than it needs */
};
void memory_region_init_io(struct region *, object *, const struct region_ops *, void *arg,
			   const char *name, uint64_t size);
bool memory_region_init_ram(struct region *, object *, const char *name, uint64_t size, error **);
void *memory_region_get_ram_ptr(struct region *);
enum { COMMAND = 4, COMMAND_MASTER = 4 };
uint32_t pci_default_read_config(object *, uint32_t at, int size);
void pci_default_write_config(object *, uint32_t at, uint32_t value, int size);
void pci_register_bar(object *, int nr, uint8_t type, struct region *);

struct attributes {
	uint32_t bits;
	bool unspecified;
};
space *pci_device_iommu_address_space(object *);
/* 0: done */
uint32_t address_space_rw(space *, uint64_t at, struct attributes, void *, uint64_t size,
			  bool write);

/* Interrupts. */
int msix_init_exclusive_bar(object *, unsigned short vectors, uint8_t bar, error **);
void msix_vector_use(object *, unsigned vector);
void msix_notify(object *, unsigned vector);

/* Time. */
enum { CLOCK_GUEST = 1 };
struct timer {
	int64_t bytes[16];			/* more than it needs */
};
int64_t qemu_clock_get_ns(int clock);
void timer_init_full(struct timer *, void *group, int clock, int scale, int attributes,
		     void (*then)(void *arg), void *arg);
void timer_deinit(struct timer *);
void timer_mod_ns(struct timer *, int64_t at);

/* Frames. */
enum { CLIENT_NIC = 1 };
struct client_info {
	int type;
	size_t size;				/* at least that of struct clients: 40 */
	ssize_t (*receive)(client *, const uint8_t *, size_t);
	void *others[24];
};

struct nic_config {
	uint8_t mac[6];
	struct {
		client *clients[1024];
		int32_t queues;
	} peers;
	int32_t boot;
};
client *qemu_find_netdev(const char *id);
clients *qemu_new_nic(struct client_info *, struct nic_config *, const char *model,
		      const char *name, bool *in_io, void *arg);
client *qemu_get_queue(clients *);
void *qemu_get_nic_opaque(client *);
void qemu_send_packet(client *, const uint8_t *, int size);
void qemu_flush_queued_packets(client *);

#endif
