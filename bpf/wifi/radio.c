/* SPDX-License-Identifier: GPL-2.0 */
/* What this kernel reports on a radio's scans, and listening to them live. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpf/wifi/radio.h"
#include "lib/core/meter.h"
#include "lib/kernel/btf.h"
#include "lib/kernel/feature.h"
#include "lib/kernel/symbol.h"
#include "lib/net/sysfs.h"
#include "lib/proc/cpus.h"
#include "lib/util/error.h"
#include "lib/util/list.h"
#include "lib/util/log.h"

#define ROOM (1 << 19)		/* about 400 events */

bool wifi_radio(const char *iface, unsigned ifindex, char radio[WIFI_RADIO])
{
	int dir = sysfs_open(iface, ifindex);
	int fd = dir < 0 ? -1 : openat(dir, "phy80211/name", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, radio, WIFI_RADIO - 1);

	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
	memset(radio + (got > 0 ? got : 0), 0, WIFI_RADIO - (got > 0 ? got : 0));
	radio[strcspn(radio, "\n")] = '\0';
	return *radio;
}

/* BTF of the kernel and the two modules; types of built-in ones are in the kernel's. */
static struct types {
	bool known;
	struct btf *kernel, *cfg80211, *mac80211;
} types;

static const struct types *types_read(void)
{
	if (types.known)
		return &types;
	types.known = true;
	types.kernel = btf__load_vmlinux_btf();
	if (!types.kernel || kernel_lacks(FEATURE_MODULE_BTF))
		return &types;
	types.cfg80211 = btf__load_module_btf("cfg80211", types.kernel) ?: types.kernel;
	types.mac80211 = btf__load_module_btf("mac80211", types.kernel) ?: types.kernel;
	return &types;
}

static bool is_struct(const struct btf *btf, const char *name)
{
	return btf && btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT) > 0;
}

/* Does the tracepoint exist, with or without BTF type? The search by name is slow, so cache it. */
static bool tracepoint(const struct btf *btf, const char *name)
{
	static struct { const char *name; bool there; } known[16];
	unsigned nr = 0;

	if (btf && btf__find_by_name_kind(btf, text("btf_trace_%s", name), BTF_KIND_TYPEDEF) > 0)
		return true;
	while (nr < 15 && known[nr].name && strcmp(known[nr].name, name))
		nr++;
	if (!known[nr].name) {
		known[nr].there = symbol_address(text("__tracepoint_%s", name));
		known[nr].name = name;
	}
	return known[nr].there;
}

static bool typed(void)
{
	return is_struct(types_read()->cfg80211, "cfg80211_scan_request");
}

static bool mac80211(void)
{
	static const char *const wanted[] = { "drv_hw_scan", "drv_sw_scan_start", "drv_config" };
	const struct types *t = types_read();

	if (!typed() || !is_struct(t->mac80211, "ieee80211_local"))
		return false;
	for (unsigned i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (!tracepoint(t->mac80211, wanted[i]))
			return false;
	return true;
}

static bool mac80211_loaded(void)
{
	return !access("/sys/module/mac80211", F_OK);
}

const char *wifi_cannot(void)
{
	static const char *const wanted[] = {
		"rdev_scan", "rdev_return_int", "cfg80211_scan_done"
	};
	const struct types *t;

	if (access("/sys/class/ieee80211", F_OK))
		return "no radios: this kernel has no cfg80211, or has not loaded it";
	if (kernel_lacks(FEATURE_RAW_TP))
		return kernel_lacks(FEATURE_RAW_TP);
	t = types_read();
	for (unsigned i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (!tracepoint(t->cfg80211, wanted[i]))
			return text("cfg80211 of this kernel has no tracepoint %s", wanted[i]);
	if (!typed() && !is_struct(t->kernel, "wiphy"))
		return "neither this kernel nor its module cfg80211 has BTF of struct wiphy";
	return NULL;
}

const char *wifi_without(void)
{
	const struct types *t = types_read();

	if (!typed())
		return "cfg80211 was built without BTF: all scans of the radio are counted, but "
		       "neither their channels nor whether they were aborted is known";
	if (!tracepoint(t->cfg80211, "cfg80211_return_bss"))
		return "networks heard are not known: cfg80211 has no tracepoint "
		       "cfg80211_return_bss";
	if (mac80211_loaded() && !mac80211())
		return "whether mac80211 or the card scans is not known: mac80211 has no BTF or no "
		       "tracepoints";
	return NULL;
}

const char *wifi_kind(unsigned kind)
{
	static const char *const kinds[] = {
		[WIFI_DRIVER] = "driver", [WIFI_SOFTWARE] = "software",
		[WIFI_HARDWARE] = "hardware", [WIFI_KIND_UNKNOWN] = "unknown",
	};
	ONE_EACH(kinds, NR_WIFI_KINDS);

	return kind < NR_WIFI_KINDS ? kinds[kind] : "?";
}

/* Channel numbers restart in each band: IEEE 802.11, annex E. */
static const struct band {
	unsigned from, to;	/* kHz */
	unsigned base, step;	/* frequency of channel 0, and the step per number */
	const char *name;
} bands[] = {
	{ 902500, 927500, 902000, 500, "900 MHz" },	/* 802.11ah, as in the USA */
	{ 2412000, 2483000, 2407000, 5000, "2.4 GHz" },
	{ 2484000, 2484000, 2414000, 5000, "2.4 GHz" },	/* 14, apart from the others */
	{ 4910000, 4980000, 4000000, 5000, "4.9 GHz" },
	{ 5000000, 5924000, 5000000, 5000, "5 GHz" },
	{ 5935000, 5935000, 5925000, 5000, "6 GHz" },	/* 2, below all others */
	{ 5955000, 7125000, 5950000, 5000, "6 GHz" },
	{ 58320000, 70200000, 56160000, 2160000, "60 GHz" },
	{}
};

static const struct band *band_of(unsigned khz)
{
	const struct band *b = bands;

	while (b->name && (khz < b->from || khz > b->to))
		b++;
	return b;
}

const char *wifi_band(unsigned khz)
{
	return band_of(khz)->name ?: "?";
}

unsigned wifi_number(unsigned khz)
{
	const struct band *b = band_of(khz);

	return b->name ? (khz - b->base) / b->step : 0;
}

const char *wifi_channel(unsigned khz)
{
	unsigned number = wifi_number(khz);

	return number ? text("%u", number) : text("%g MHz", khz / 1000.);
}

static void leave_out(struct bpf_object *obj, const char *program, bool out)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(obj, program);

	if (prog)
		bpf_program__set_autoload(prog, !out);
}

int wifi_prepare(struct bpf_object *obj, const char *radio, bool live)
{
	const struct types *t = types_read();
	struct bpf_map *map = bpf_object__find_map_by_name(obj, ".rodata.wifi");
	struct wifi_setup setup = {
		.live = live, .typeless = !typed(),
		.kind_known = mac80211() || (typed() && !mac80211_loaded()),
	};

	strncpy(setup.radio, radio, sizeof(setup.radio) - 1);
	leave_out(obj, "scan_heard", !typed() || !tracepoint(t->cfg80211, "cfg80211_return_bss"));
	leave_out(obj, "scan_abort", !typed() || !tracepoint(t->cfg80211, "rdev_abort_scan"));
	leave_out(obj, "scan_hardware", !mac80211());
	leave_out(obj, "scan_software", !mac80211());
	leave_out(obj, "scan_here", !mac80211());
	return map ? bpf_map__set_initial_value(map, &setup, sizeof(setup)) : -ENOENT;
}

struct wifi_ear {
	struct bpf_object *obj;
	struct ring_buffer *ring;
	struct bpf_link *links[16];
	void (*tell)(const struct wifi_scan *, void *arg);
	void *arg;
};

static int hear(void *ear, void *data, size_t size)
{
	const struct wifi_ear *e = ear;

	if (size >= sizeof(struct wifi_scan))
		e->tell(data, e->arg);
	return 0;
}

static int ear_open(struct wifi_ear *e, struct error *error)
{
	size_t size;
	const void *elf = meter_find("wifi")->events.elf(&size);
	int err;

	log_forget();
	e->obj = bpf_object__open_mem(elf, size, NULL);
	if (!e->obj)
		return error_set(error, -errno, NULL, "cannot open our own BPF object: %s",
				 log_last());
	err = wifi_prepare(e->obj, "", true) ?:
	      bpf_map__set_max_entries(bpf_object__find_map_by_name(e->obj, "events"), ROOM) ?:
	      bpf_map__set_max_entries(bpf_object__find_map_by_name(e->obj, "wifi"), 1);
	if (err)
		return error_set(error, err, NULL, "cannot prepare our own BPF object: %s",
				 strerror(-err));
	err = kernel_load(e->obj);
	if (err)
		return error_set(error, err, NULL, "cannot load our BPF program: %s", log_last());
	e->ring = ring_buffer__new(bpf_object__find_map_fd_by_name(e->obj, "events"), hear, e,
				   NULL);
	return e->ring ? 0 : error_set(error, -errno, NULL, "cannot create a ring buffer: %s",
				       strerror(errno));
}

static int ear_attach(struct wifi_ear *e, struct error *error)
{
	struct bpf_program *prog;
	unsigned nr = 0;

	bpf_object__for_each_program(prog, e->obj) {
		if (!bpf_program__autoload(prog))
			continue;
		e->links[nr] = bpf_program__attach(prog);
		if (!e->links[nr])
			return error_set(error, -errno, NULL, "cannot attach to %s: %s",
					 bpf_program__section_name(prog), strerror(errno));
		nr++;
	}
	return 0;
}

struct wifi_ear *wifi_listen(void (*tell)(const struct wifi_scan *, void *arg), void *arg,
			     struct error *error)
{
	struct wifi_ear *e = calloc(1, sizeof(*e));

	if (!e) {
		error_set(error, -ENOMEM, NULL, "no memory to listen");
		return NULL;
	}
	e->tell = tell;
	e->arg = arg;
	if (!ear_open(e, error) && !ear_attach(e, error))
		return e;
	wifi_deaf(e);
	return NULL;
}

int wifi_fd(const struct wifi_ear *e)
{
	return ring_buffer__epoll_fd(e->ring);
}

int wifi_take(struct wifi_ear *e)
{
	int err = ring_buffer__consume(e->ring);

	return err < 0 ? err : 0;
}

unsigned long long wifi_lost(const struct wifi_ear *e)
{
	int cpus = libbpf_num_possible_cpus();
	__u64 percpu[MAX_CPUS], lost = 0;
	__u32 id = METER_wifi;

	if (cpus > MAX_CPUS || bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(e->obj, "lost"),
					       &id, percpu))
		return 0;
	for (int cpu = 0; cpu < cpus; cpu++)
		lost += percpu[cpu];
	return lost;
}

void wifi_deaf(struct wifi_ear *e)
{
	for (unsigned i = 0; i < sizeof(e->links) / sizeof(*e->links); i++)
		bpf_link__destroy(e->links[i]);
	ring_buffer__free(e->ring);
	bpf_object__close(e->obj);
	free(e);
}
