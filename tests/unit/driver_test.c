/* SPDX-License-Identifier: GPL-2.0 */
/* Driver tables: entries are unique and can be found, and their sentences can be printed. */
#include <stdbool.h>
#include <string.h>

#include "lib/core/nic_driver.h"
#include "check.h"

/* A fragment of a longer sentence: no full stop, no newline, not too long. */
static bool is_fragment(const char *s)
{
	size_t len = s ? strlen(s) : 0;

	if (!s)
		return true;
	return len > 3 && len < 110 && s[len - 1] != '.' && s[len - 1] != ' ' && !strchr(s, '\n');
}

static unsigned named(const char *name)
{
	unsigned n = 0;

	for (const struct driver *const *d = drivers; *d; d++)
		n += !strcmp((*d)->name, name);
	return n;
}

static void check_table(const struct driver *d)
{
	check(is_fragment(d->help) && d->help, text("help %s", d->name),
	      "no fragment of a sentence");
	check(is_fragment(d->xdp), text("xdp %s", d->name), "no fragment of a sentence");
	check(is_fragment(d->no_completion), text("no_completion %s", d->name),
	      "no fragment of a sentence");
	check(!(d->xdp && d->no_xdp), text("xdp-or-not %s", d->name),
	      "disturbs by what it does not have");
	check(d->rx_queue <= RX_QUEUE_RAW, text("rx_queue %s", d->name), "no such value");
}

static void check_name(const struct driver *d)
{
	/* meta.driver and iface.driver have room for 31 characters. */
	check(d->name && d->name[0] && strlen(d->name) < 32, text("name %s", d->name),
	      "empty or too long");
	check(named(d->name) == 1, text("unique %s", d->name), "named twice");
	check(driver_find(d->name) == d, text("findable %s", d->name),
	      "driver_find() gives another");
}

static bool twice(const struct driver_name *list, const struct driver_name *n)
{
	for (const struct driver_name *o = list; o < n; o++)
		if (!strcmp(o->name, n->name))
			return true;
	return false;
}

static void check_names(const struct driver *d, const struct driver_name *list)
{
	for (const struct driver_name *n = list; n && n->name; n++) {
		const char *name = text("%s %s", d->name, n->name);

		must(!twice(list, n), name, "named twice");
		must(n->does < NR_DOES && does_text[n->does], name, "does nothing");
		must(!n->since || !n->until || n->since <= n->until, name, "until before it was");
	}
}

/* The function that identifies a loaded driver must be unique. */
static unsigned polls(const struct driver *d)
{
	unsigned nr = 0;

	for (const struct driver_name *n = d->functions; n && n->name; n++)
		nr += n->does == DOES_POLL && !n->module;
	return nr;
}

static bool names_queues(const char *pattern)
{
	unsigned nr = 0;

	for (; *pattern; pattern++)
		if (*pattern == '%') {
			pattern++;
			if (!*pattern || !strchr("rt", *pattern))
				return false;
			nr++;
		}
	return nr <= 1;
}

static void check_known(const struct driver *d)
{
	int before = failed;

	check_names(d, d->functions);
	check_names(d, d->tracepoints);
	must(!d->functions || polls(d), text("poll %s", d->name),
	     "nothing tells whether it is here");
	must(!d->functions || d->bytes.tx, text("bytes %s", d->name), "what it counts is not said");
	must(!d->functions || d->no_xdp || d->xdp_since, text("xdp_since %s", d->name), "not said");
	must(!d->bytes.tx || d->bytes.when, text("when %s", d->name), "it counts at some time");
	must(!d->xdp_takes || (d->xdp && is_fragment(d->xdp_takes)), text("xdp_takes %s", d->name),
	     "nothing that takes long, or no fragment");
	must(is_fragment(d->xdp_needs) && is_fragment(d->completes) && is_fragment(d->stats_how) &&
	     is_fragment(d->bytes.but), text("fragments %s", d->name), "one is none");
	for (const struct driver_stat *s = d->stats; s && s->name; s++) {
		const char *name = text("%s %s", d->name, s->name);

		must(stat_find(s->as), name, "its common name is not known");
		must(names_queues(s->name), name, "no pattern of a statistic");
	}
	check(failed == before, text("known %s", d->name), "see above");
}

static void check_versions(void)
{
	same("release 6.12", release_version("6.12.117+deb12-amd64"), KERNEL(6, 12));
	same("release 6.1", release_version("6.1.0-56-amd64"), KERNEL(6, 1));
	check(release_version("6.1.0-56-amd64") < release_version("6.12.0"), "release order",
	      "6.12 is before 6.1");
	holds(!release_version("") && !release_version("next"), "release none");
	holds(version_has(KERNEL(6, 12), KERNEL(6, 12), 0), "since it");
	holds(!version_has(KERNEL(6, 1), KERNEL(6, 12), 0), "since before");
	holds(version_has(KERNEL(6, 1), 0, KERNEL(6, 1)), "until it");
	holds(!version_has(KERNEL(6, 12), 0, KERNEL(6, 1)), "until after");
	check(version_has(0, 0, 0) && !version_has(0, KERNEL(6, 1), 0), "version unknown",
	      "what is not in all kernels is expected");
}

static void check_facts(void)
{
	holds(driver_find("nonesuch") == &driver_generic, "unknown nonesuch");
	holds(driver_find("") == &driver_generic, "unknown empty");
	check(driver_find("ixg") == &driver_generic, "prefix ixg", "took ixgbe for it");
	check(driver_find("ena")->xdp, "disturbs ena", "attaching XDP resets its queues");
	check(!driver_find("tun")->xdp && !driver_find("tun")->no_xdp, "undisturbed tun",
	      "attaching XDP swaps a pointer");
	check(driver_find("e1000e")->no_xdp, "no_xdp e1000e", "it has no ndo_bpf");
	check(driver_find("veth")->rx_queue == RX_QUEUE_RAW, "queue veth", "must be raw");
	check(driver_find("ixgbevf")->rx_queue == RX_QUEUE_BY_NAPI, "queue ixgbevf",
	      "it is never recorded");
	check(driver_find("veth")->no_completion, "no_completion veth", "it never completes");
	check(!driver_find("virtio_net")->no_completion, "completes virtio_net", "it does");
}

int main(void)
{
	for (const struct driver *const *d = drivers; *d; d++) {
		check_name(*d);
		check_table(*d);
		check_known(*d);
	}
	check_versions();
	check_table(&driver_generic);
	check(driver_generic.xdp, "disturbs generic", "unknown is not harmless");
	check_facts();
	return failed > 0;
}
