/* SPDX-License-Identifier: GPL-2.0 */
/* Names of drop reasons in the running kernel. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <bpf/btf.h>

#include "lib/kernel/reasons.h"
#include "lib/kernel/btf.h"
#include "lib/util/list.h"
#include "lib/util/log.h"

#define PREFIX	"SKB_DROP_REASON_"
#define SUBSYS	16	/* the upper half of a reason is the subsystem that defines the lower */

/* The name of a value in an enum; NULL: it has none. */
static const char *enum_name(const struct btf *btf, const struct btf_type *t, uint32_t value)
{
	const struct btf_enum *e = btf_enum(t);

	for (unsigned i = 0; i < btf_vlen(t); i++)
		if ((uint32_t)e[i].val == value)
			return btf__str_by_offset(btf, e[i].name_off);
	return NULL;
}

/* The name of a value in the enums whose names contain `what`, among types from `first` on. */
static const char *enums_name(const struct btf *btf, unsigned first, const char *what,
			      uint32_t value)
{
	for (unsigned id = first; id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const char *name;

		if (!btf_is_enum(t) || !strstr(btf__str_by_offset(btf, t->name_off), what))
			continue;
		name = enum_name(btf, t, value);
		if (name)
			return name;
	}
	return NULL;
}

/* A subsystem may be a module: once loaded, its BTF has the names. */
static const char *module_name(uint32_t reason)
{
	struct dirent *entry;
	const char *name = NULL;
	DIR *d = opendir("/sys/kernel/btf");

	while (kernel_types() && d && !name && (entry = readdir(d))) {
		struct btf *btf;

		if (*entry->d_name == '.' || !strcmp(entry->d_name, "vmlinux"))
			continue;
		btf = btf__load_module_btf(entry->d_name, kernel_types());
		if (!btf)
			continue;
		name = enums_name(btf, btf__type_cnt(kernel_types()), "drop_reason", reason);
		if (name)
			name = strdup(name);	/* once per reason: it is cached */
		btf__free(btf);
	}
	if (d)
		closedir(d);
	return name;
}

static const char *without_prefix(const char *name)
{
	if (name && !strncmp(name, PREFIX, strlen(PREFIX)))
		name += strlen(PREFIX);
	return name ? name + strspn(name, "_") : NULL;
}

const char *drop_reason_core(uint32_t reason)
{
	static const struct btf_type *reasons;
	const struct btf *btf = kernel_types();
	int id;

	if (!reasons && btf) {
		id = btf__find_by_name_kind(btf, "skb_drop_reason", BTF_KIND_ENUM);
		reasons = id > 0 ? btf__type_by_id(btf, id) : NULL;
	}
	return reasons ? without_prefix(enum_name(btf, reasons, reason)) : NULL;
}

static const char *reason_find(uint32_t reason)
{
	if (!(reason >> SUBSYS))
		return drop_reason_core(reason);
	if (!kernel_types())
		return NULL;
	return without_prefix(enums_name(kernel_types(), 1, "drop_reason", reason) ?:
			      module_name(reason));
}

/* "OPENVSWITCH_7": the subsystem and a number, if the name is not known. */
static const char *reason_guess(uint32_t reason)
{
	uint32_t subsystem = reason >> SUBSYS;
	const char *of = subsystem && kernel_types() ?
			 enums_name(kernel_types(), 1, "skb_drop_reason_subsys", subsystem) : NULL;

	if (!of || strncmp(of, PREFIX "SUBSYS_", strlen(PREFIX "SUBSYS_")))
		return text("?%" PRIx32, reason);
	return text("%s_%u", of + strlen(PREFIX "SUBSYS_"), reason & 0xffff);
}

static struct { uint32_t reason; char name[64]; } known[512];
static unsigned nr_known;
static unsigned short lately[64];	/* where in `known` one was found, by its lowest bits */

void drop_reason_know(uint32_t reason, const char *name)
{
	if (nr_known == sizeof(known) / sizeof(*known))
		return;
	known[nr_known].reason = reason;
	snprintf(known[nr_known++].name, sizeof(known->name), "%s", name);
}

const char *drop_reason_name(uint32_t reason)
{
	unsigned short *at = &lately[reason % NR_OF(lately)];
	const char *name;

	if (*at < nr_known && known[*at].reason == reason)
		return known[*at].name;
	for (unsigned i = 0; i < nr_known; i++)
		if (known[i].reason == reason) {
			*at = i;
			return known[i].name;
		}
	name = reason_find(reason) ?: reason_guess(reason);
	drop_reason_know(reason, name);
	return name;
}
