/* SPDX-License-Identifier: GPL-2.0 */
/* Band and channel of a frequency, and the names of the meter's rows. */
#include <arpa/inet.h>
#include <string.h>

#include "bpf/wifi/radio.h"
#include "bpf/wifi/wifi.h"

#define SUBJECT "wifi "
#include "judge.h"

/* "-/-/5 GHz/36": all labels of a row. */
static void row(unsigned khz, unsigned kind, const char *by, const char *want)
{
	struct wifi_key key = { .khz = htonl(khz), .kind = kind };
	char got[160] = "", label[40];

	memcpy(key.by, by, strnlen(by, sizeof(key.by)));
	for (unsigned i = 0; meter_wifi.key.labels[i]; i++) {
		meter_wifi.key.text(&key, i, label, sizeof(label));
		strcat(got, i ? "/" : "");
		strcat(got, label);
	}
	same_text(want, got, want);
}

/* Two programs scan, `a` and `b` times a second each, for a minute: the finding names one. */
static void judged(unsigned a, unsigned b, const char *want)
{
	struct wifi_key keys[2] = { { .kind = WIFI_HARDWARE, .by = "NetworkManager" },
				    { .kind = WIFI_HARDWARE, .by = "iw" } };
	struct wifi rows[2] = {};
	static struct snapshot s;

	s = (struct snapshot){ .seconds = 60, .name = "wlan0", .meta.iface = "wlan0" };
	rows[0].duration.sum = a * 1000000000ull;
	rows[0].duration.slot[200] = a;
	rows[1].duration.sum = b * 1000000000ull;
	rows[1].duration.slot[200] = b;
	s.tables[METER_wifi] = (struct table){
		.rows = 2, .cpus = 1, .words = sizeof(*rows) / 8,
		.cells = (void *)rows, .keys = (void *)keys,
	};
	finds(&s, setup_unknown(), text("%u and %u seconds of a minute", a, b),
	      *want ? "wifi-scans" : NULL, want, "nicprobe wifi wlan0");
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

	for (unsigned i = 0; i < sizeof(channels) / sizeof(*channels); i++) {
		const char *band = wifi_band(channels[i].khz);
		unsigned number = wifi_number(channels[i].khz);

		check(number == channels[i].number && !strcmp(band, channels[i].band),
		      text("%u kHz", channels[i].khz), text("%s, %u", band, number));
	}
	same_text("no number", wifi_channel(3700500), "3700.5 MHz");
	row(0, WIFI_HARDWARE, "wpa_supplicant", "wpa_supplicant/hardware/-/-");
	row(0, WIFI_KIND_UNKNOWN, "", "unknown/unknown/-/-");
	row(0, WIFI_SOFTWARE, "sixteen_letters_", "sixteen_letters_/software/-/-");
	row(0, 77, "iw", "iw/?/-/-");
	row(5180000, 0, "", "-/-/5 GHz/36");
	row(3700000, 0, "", "-/-/?/3700 MHz");
	judged(0, 0, "");
	judged(2, 3, "");
	judged(4, 2, "10% of the time, most of it for NetworkManager");
	judged(10, 50, "100% of the time, most of it for iw");
	return failed > 0;
}
