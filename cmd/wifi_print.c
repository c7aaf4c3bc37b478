/* SPDX-License-Identifier: GPL-2.0 */
/* Prints the begin or the end of a scan: as a line, or as a JSON object. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bpf/wifi/radio.h"
#include "cmd/cmd.h"
#include "cmd/wifi.h"
#include "lib/util/clock.h"
#include "lib/util/list.h"
#include "lib/util/log.h"
#include "render/json_writer.h"
#include "render/text.h"

/* "blue/wlan0"; the radio if no network device requested the scan or it is unknown. */
static void name_of(const struct wifi_scan *s, char *name, unsigned size)
{
	if (s->ifindex)
		iface_label(s->netns, s->iface, name, size);
	else
		snprintf(name, size, "%s", s->radio);
	netns_go_home();
}

static double seconds(const struct wifi_scan *s)
{
	return (s->told - s->began) * 1e-9;
}

static unsigned told_channels(const struct wifi_scan *s)
{
	return s->channels < WIFI_CHANNELS ? s->channels : WIFI_CHANNELS;
}

static unsigned networks(const struct wifi_scan *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < told_channels(s); i++)
		n += s->channel[i].networks;
	return n;
}

static bool follows(const struct wifi_channel *c)
{
	return wifi_band(c->khz) == wifi_band(c[-1].khz) &&
	       wifi_number(c->khz) == wifi_number(c[-1].khz) + 1;
}

/* ": 2.4 GHz 1-11; 5 GHz 36 40"; `heard`: only channels with networks, "36 (3)". */
static void put_channels(struct page *p, const struct wifi_scan *s, bool heard)
{
	const char *band = NULL, *before = ": ";
	unsigned n = told_channels(s);

	for (unsigned i = 0, to; i < n; i = to) {
		const struct wifi_channel *c = &s->channel[i];
		bool new = !band || strcmp(band, wifi_band(c->khz));

		to = i + 1;
		if (heard && !c->networks)
			continue;
		while (!heard && to < n && follows(&s->channel[to]))
			to++;
		page_wrap(p, 14, new ? text("%s%s ", before, wifi_band(c->khz)) : " ");
		if (heard)
			page_wrap(p, 14, text("%s (%u)", wifi_channel(c->khz), c->networks));
		else if (to - i > 1)	/* as one word, which is not wrapped */
			page_wrap(p, 14, text("%s-%s", wifi_channel(c->khz),
					      wifi_channel(s->channel[to - 1].khz)));
		else
			page_wrap(p, 14, wifi_channel(c->khz));
		band = wifi_band(c->khz);
		before = "; ";
	}
	if (s->channels > n)
		page_wrap(p, 14, text("; %u more", s->channels - n));
}

static void put_began(struct page *p, const struct wifi_scan *s)
{
	page_wrap(p, 14, text(" by %s (%u)", s->by.name, s->by.pid));
	if (!s->channels)
		return;
	page_wrap(p, 14, text(", %s, %u channel%s", s->ssids ? "active" : "passive", s->channels,
			      s->channels == 1 ? "" : "s"));
	put_channels(p, s, false);
}

static void put_end(struct page *p, const struct wifi_scan *s)
{
	unsigned n = networks(s);

	page_wrap(p, 14, s->state == WIFI_ABORTED ? " aborted" : " done");
	if (!s->began) {
		page_wrap(p, 14, "; it began before nicprobe listened");
		return;
	}
	if (*s->aborter.name)
		page_wrap(p, 14, text(" by %s (%u)", s->aborter.name, s->aborter.pid));
	page_wrap(p, 14, text(" after %.3f s", seconds(s)));
	if (s->kind != WIFI_KIND_UNKNOWN)
		page_wrap(p, 14, text(", %s", wifi_kind(s->kind)));
	if (!s->channels)
		return;
	page_wrap(p, 14, text(", %u network%s", n, n == 1 ? "" : "s"));
	put_channels(p, s, true);
}

void wifi_print(const struct wifi_scan *s, const struct look *look)
{
	struct page p = { .out = stdout, .look = look,
			  .width = look->width < 40 ? 40 : look->width };
	struct timespec t = clock_wall(s->told);
	char clock[16], name[96];
	struct tm tm;

	strftime(clock, sizeof(clock), "%T", localtime_r(&t.tv_sec, &tm));
	name_of(s, name, sizeof(name));
	page_style(&p, STYLE_DIM);
	page_put(&p, text("%s.%03ld", clock, t.tv_nsec / 1000000), -1);
	page_style(&p, STYLE_PLAIN);
	page_spaces(&p, 2);
	page_style(&p, STYLE_BOLD);
	page_put(&p, name, -1);
	page_style(&p, STYLE_PLAIN);
	page_wrap(&p, 14, text("  scan %llu", (unsigned long long)s->nr));
	if (s->state == WIFI_BEGAN)
		put_began(&p, s);
	else if (s->state == WIFI_REFUSED)
		page_wrap(&p, 14, text(" refused: %s", strerror(s->error)));
	else
		put_end(&p, s);
	page_newline(&p);
}

static void json_task(struct json *j, const char *key, const struct wifi_task *task)
{
	if (!*task->name)
		return;
	json_open(j, key, '{');
	json_string(j, "name", task->name);
	json_uint(j, "pid", task->pid);
	json_close(j);
}

static void json_channels(struct json *j, const struct wifi_scan *s)
{
	json_open(j, "channels", '[');
	for (unsigned i = 0; i < told_channels(s); i++) {
		const struct wifi_channel *c = &s->channel[i];

		json_open(j, NULL, '{');
		json_string(j, "band", wifi_band(c->khz));
		if (wifi_number(c->khz))
			json_uint(j, "channel", wifi_number(c->khz));
		else
			json_null(j, "channel");
		json_double(j, "mhz", c->khz / 1000.);
		if (s->state != WIFI_BEGAN)
			json_uint(j, "networks", c->networks);
		json_close(j);
	}
	json_close(j);
}

static void json_end(struct json *j, const struct wifi_scan *s)
{
	if (s->began)
		json_double(j, "seconds", seconds(s));
	else
		json_null(j, "seconds");
	if (s->state == WIFI_REFUSED) {
		json_string(j, "error", strerrorname_np(s->error) ?: text("%u", s->error));
		return;
	}
	json_string(j, "kind", wifi_kind(s->kind));
	json_task(j, "aborted_by", &s->aborter);
	if (s->channels)
		json_uint(j, "networks", networks(s));
	else
		json_null(j, "networks");
}

void wifi_print_json(const struct wifi_scan *s)
{
	static const char *const states[] = { "began", "done", "aborted", "refused" };
	ONE_EACH(states, NR_WIFI_STATES);
	struct timespec t = clock_wall(s->told);
	struct json j = { .out = stdout };
	char clock[24], name[96];
	struct tm tm;

	strftime(clock, sizeof(clock), "%FT%T", gmtime_r(&t.tv_sec, &tm));
	name_of(s, name, sizeof(name));
	json_open(&j, NULL, '{');
	json_string(&j, "time", text("%s.%06ldZ", clock, t.tv_nsec / 1000));
	json_string(&j, "event", states[s->state % 4]);
	json_uint(&j, "scan", s->nr);
	if (s->ifindex)
		json_string(&j, "interface", name);
	else
		json_null(&j, "interface");
	json_string(&j, "radio", s->radio);
	json_task(&j, "by", &s->by);
	if (s->state != WIFI_BEGAN)
		json_end(&j, s);
	if (s->channels) {
		json_bool(&j, "active", s->ssids);
		json_uint(&j, "ssids", s->ssids);
		json_channels(&j, s);
	}
	json_close(&j);
	putchar('\n');
}
