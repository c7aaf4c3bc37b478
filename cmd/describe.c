/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe list -v: all meters, hooks, drivers and attach methods, and which of them work here. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "cmd/cmd.h"
#include "cmd/describe.h"
#include "lib/core/hook.h"
#include "lib/core/nic_driver.h"
#include "lib/kernel/feature.h"
#include "lib/kernel/permits.h"
#include "lib/util/error.h"
#include "lib/util/list.h"
#include "lib/util/log.h"
#include "render/json_writer.h"
#include "render/text.h"

static struct page *page;

static void works(const char *no)
{
	if (no)
		page_remark(page, 6, text("not here: %s", no));
}

/* The unit is shown unless the key ends with it. */
static void describe_metric(const struct metric *k)
{
	size_t len = strlen(k->unit);
	char key[64];

	metric_key(k, key, sizeof(key));
	if (strlen(key) < len || strcmp(key + strlen(key) - len, k->unit))
		page_line(page, 6, text("%-13s %s", key, k->unit), 34, k->help);
	else
		page_line(page, 6, key, 34, k->help);
}

static void describe_meters(bool permitted)
{
	puts("Meters and their metrics");
	for (int id = 0; id < NR_METERS; id++) {
		const struct meter *m = meters[id];

		page_line(page, 2, m->name, 15, m->sample ?
		     text("%s: 1 packet in %u", m->help, m->sample) : m->help);
		for_each_metric(k, m)
			describe_metric(k);
		if (m->host)
			page_remark(page, 6, "of the host: nicprobe attach host");
		if (m->on_request)
			page_remark(page, 6, text("only on request, -m %s: %s", m->name,
						  m->on_request));
		if (m->cannot && permitted)
			works(m->cannot());
	}
}

static void describe_hooks(void)
{
	puts("\nHooks, where packets are seen; the first that works is used for each point");
	for (const struct hook *const *t = hooks; *t; t++) {
		const char *at = "at";

		page_line(page, 2, (*t)->name, 15, (*t)->help);
		for (int p = 0; p < NR_POINTS; p++)
			if ((*t)->points >> p & 1)
				at = text("%s %s", at, point_names[p]);
		page_remark(page, 6, at);
		works(denied((*t)->name));
	}
}

static void describe_drivers(void)
{
	puts("\nDrivers that nicprobe knows; other drivers work, too");
	for (const struct driver *const *d = drivers; *d; d++) {
		page_line(page, 2, (*d)->name, 15, (*d)->help);
		if ((*d)->no_xdp)
			page_remark(page, 6, "no native XDP");
		else if ((*d)->xdp)
			page_remark(page, 6, text("attaching XDP %s", (*d)->xdp));
		if ((*d)->no_completion)
			page_remark(page, 6, text("no txlat: %s", (*d)->no_completion));
	}
}

static void describe_features(void)
{
	struct utsname kernel;
	struct error e = {};

	if (kernel_permits(&e)) {
		printf("\nWhat this kernel can do: unknown; %s\n", e.what);
		return;
	}

	uname(&kernel);
	printf("\nWhat this kernel (%s) can do; attach methods, best first\n", kernel.release);
	for (int f = 0; f < NR_FEATURES; f++) {
		const char *no;

		if (!features[f].help)
			continue;
		no = kernel_lacks(f);
		printf("  %-12s %-40s %s\n", features[f].name, features[f].help, no ? "no" : "yes");
		works(no);
	}
}

void describe(struct page *on, __u64 only)
{
	bool permitted = !kernel_permits(NULL), first = true;

	page = on;
	for (int id = 0; id < NR_METERS; id++) {
		if (!(only >> id & 1))
			continue;
		if (!first)
			page_newline(page);
		first = false;
		describe_meter(page, meters[id], permitted);
	}
	if (only)
		return;
	describe_meters(permitted);
	describe_hooks();
	describe_drivers();
	describe_features();
}

const char *metric_kind(const struct metric *k)
{
	static const char *const kinds[] = {
		[KIND_COUNTER] = "counter", [KIND_HISTOGRAM] = "histogram", [KIND_LEVEL] = "level",
		[KIND_RESIDUE] = "residue",
	};
	ONE_EACH(kinds, NR_KINDS);

	return kinds[k->kind];
}

static void json_metric(struct json *j, const struct meter *m, const struct metric *k)
{
	char key[64];

	metric_key(k, key, sizeof(key));
	json_open(j, NULL, '{');
	json_string(j, "name", key);
	json_string(j, "kind", metric_kind(k));
	json_string(j, "unit", k->unit);
	json_string(j, "help", k->help);
	if (!m->key.unit) {	/* otherwise there is one family per unit */
		char family[96];

		metric_family(m, k, NULL, family, sizeof(family));
		json_string(j, "openmetrics", k->kind != KIND_COUNTER ? family :
			    text("%s_total", family));
	}
	json_close(j);
}

static void json_meters(struct json *j, bool permitted, __u64 only)
{
	json_open(j, "meters", '[');
	for (int id = 0; id < NR_METERS; id++) {
		const struct meter *m = meters[id];

		if (only && !(only >> id & 1))
			continue;
		json_open(j, NULL, '{');
		json_string(j, "name", m->name);
		json_string(j, "help", m->help);
		if (m->sample)
			json_uint(j, "sample", m->sample);
		if (m->on_request)
			json_string(j, "on_request", m->on_request);
		if (m->cannot && permitted) {
			json_bool(j, "works", !m->cannot());
			if (m->cannot())
				json_string(j, "why", m->cannot());
		}
		describe_meter_json(j, m);
		json_open(j, "metrics", '[');
		for_each_metric(k, m)
			json_metric(j, m, k);
		json_close(j);
		json_close(j);
	}
	json_close(j);
}

/* `no`: why not, or NULL. Nothing is written where we are not permitted to find out. */
static void json_works(struct json *j, bool permitted, const char *no)
{
	if (permitted)
		json_bool(j, "works", !no);
	if (permitted && no)
		json_string(j, "why", no);
}

static void json_hooks(struct json *j, bool permitted)
{
	json_open(j, "hooks", '[');
	for (const struct hook *const *t = hooks; *t; t++) {
		json_open(j, NULL, '{');
		json_string(j, "name", (*t)->name);
		json_string(j, "help", (*t)->help);
		json_open(j, "points", '[');
		for (int p = 0; p < NR_POINTS; p++)
			if ((*t)->points >> p & 1)
				json_string(j, NULL, point_names[p]);
		json_close(j);
		json_works(j, permitted, denied((*t)->name));
		json_close(j);
	}
	json_close(j);
}

static void json_drivers(struct json *j)
{
	json_open(j, "drivers", '[');
	for (const struct driver *const *d = drivers; *d; d++) {
		json_open(j, NULL, '{');
		json_string(j, "name", (*d)->name);
		json_string(j, "help", (*d)->help);
		json_bool(j, "xdp", !(*d)->no_xdp);
		if ((*d)->xdp)
			json_string(j, "attaching_xdp", (*d)->xdp);
		if ((*d)->no_completion)
			json_string(j, "no_txlat", (*d)->no_completion);
		json_close(j);
	}
	json_close(j);
}

static void json_features(struct json *j, bool permitted)
{
	json_open(j, "features", '[');
	for (int f = 0; f < NR_FEATURES; f++) {
		if (!features[f].help)
			continue;
		json_open(j, NULL, '{');
		json_string(j, "name", features[f].name);
		json_string(j, "help", features[f].help);
		json_works(j, permitted, permitted ? kernel_lacks(f) : NULL);
		json_close(j);
	}
	json_close(j);
}

void describe_json(__u64 only)
{
	bool permitted = !kernel_permits(NULL);
	struct json j = { .out = stdout };
	struct utsname kernel;

	uname(&kernel);
	json_open(&j, NULL, '{');
	json_uint(&j, "nicprobe", 2);
	json_string(&j, "kernel", kernel.release);
	json_meters(&j, permitted, only);
	if (!only) {
		json_hooks(&j, permitted);
		json_drivers(&j);
		json_features(&j, permitted);
	}
	json_close(&j);
	putchar('\n');
}
