/* SPDX-License-Identifier: GPL-2.0 */
/* Which band and number a frequency is, and how rows of the meter are called. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "../../lib/meter.h"
#include "../../bpf/wifi.h"
#include "../../lib/wifi.h"

static int failed;

static void check(bool good, const char *name, const char *got)
{
	printf(good ? "ok wifi %s\n" : "not ok wifi %s: it is %s\n", name, got);
	failed |= !good;
}

/* "-/-/5 GHz/36": all labels of a row. */
static void row(unsigned khz, unsigned kind, const char *by, const char *want)
{
	struct wifi_key key = { .khz = htonl(khz), .kind = kind };
	char got[160] = "", label[40];

	strncpy(key.by, by, sizeof(key.by));
	for (unsigned i = 0; meter_wifi.key_labels[i]; i++) {
		meter_wifi.key_text(&key, i, label, sizeof(label));
		strcat(got, i ? "/" : "");
		strcat(got, label);
	}
	check(!strcmp(got, want), want, got);
}

int main(void)
{
	static const struct { unsigned khz, number; const char *band; } channels[] = {
		{ 2412000, 1, "2.4 GHz" }, { 2472000, 13, "2.4 GHz" }, { 2484000, 14, "2.4 GHz" },
		{ 4920000, 184, "4.9 GHz" }, { 5180000, 36, "5 GHz" }, { 5885000, 177, "5 GHz" },
		{ 5935000, 2, "6 GHz" }, { 5955000, 1, "6 GHz" }, { 7115000, 233, "6 GHz" },
		{ 58320000, 1, "60 GHz" }, { 69120000, 6, "60 GHz" },
		{ 902500, 1, "900 MHz" }, { 903000, 2, "900 MHz" }, { 927500, 51, "900 MHz" },
		{ 2400000, 0, "?" }, { 3700000, 0, "?" }, { 0, 0, "?" }, { ~0u, 0, "?" },
	};
	char name[64], got[64];

	for (unsigned i = 0; i < sizeof(channels) / sizeof(*channels); i++) {
		snprintf(name, sizeof(name), "%u kHz", channels[i].khz);
		snprintf(got, sizeof(got), "%s, %u", wifi_band(channels[i].khz),
			 wifi_number(channels[i].khz));
		check(wifi_number(channels[i].khz) == channels[i].number &&
		      !strcmp(wifi_band(channels[i].khz), channels[i].band), name, got);
	}
	check(!strcmp(wifi_channel(3700500), "3700.5 MHz"), "no number", wifi_channel(3700500));
	row(0, WIFI_HARDWARE, "wpa_supplicant", "wpa_supplicant/hardware/-/-");
	row(0, WIFI_KIND_UNKNOWN, "", "unknown/unknown/-/-");
	row(0, WIFI_SOFTWARE, "sixteen_letters_", "sixteen_letters_/software/-/-");
	row(0, 77, "iw", "iw/?/-/-");
	row(5180000, 0, "", "-/-/5 GHz/36");
	row(3700000, 0, "", "-/-/?/3700 MHz");
	return failed;
}
