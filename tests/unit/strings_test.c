/* SPDX-License-Identifier: GPL-2.0 */
/* The names that can be made of the strings and formats of a program's data. */
#include "lib/trace/strings.h"

#define SUBJECT "strings "
#include "check.h"

/* Every split of the name is a derivation, and every piece is a name again. */
static void gives_up(void)
{
	static const char data[] = "s\0%s%s%s%s%ss\0%s%s%s%s%s%ss\0%s_%s%s%s%s\0rx_%u\0";
	struct strings s = {};

	holds(!strings_add(&s, data, sizeof(data) - 1), "formats of many ways are taken in");
	strings_sort(&s);
	holds(!strings_make(&s, "rx_queue_0_of_very_many_xdp_drops"), "and given up in time");
	holds(strings_make(&s, "rx_17"), "which costs the next name nothing");
	strings_free(&s);
}

int main(void)
{
	/* a table with numbers between its names, formats, a non-string, and no terminator */
	static const char data[] = "\1\0\0rx_packets\0\0\0\x68\1\0\0tx_bytes\0queue_%u_%s_%s\0tx\0"
		"cnt\0drops\0rx_queue_%u_%.18s\0%s-%s-%d\0%s-%s\0TxRx\0i40e\0%s%s\0%s\0"
		"mlx5_comp%d\0%s@pci:%s\0%d%%full\0frag\0tail_without_end";
	static const struct { const char *name; bool made; } names[] = {
		{ "rx_packets", true }, { "tx_bytes", true }, { "tx_byte", false },
		{ "rx_packetsh", false }, { "queue_0_tx_cnt", true }, { "queue_12_tx_drops", true },
		{ "queue_0_tx_cntt", false }, { "queue_x_tx_cnt", false },
		{ "queue_0_rx_cnt", false }, { "rx_queue_0_drops", true },
		{ "rx_queue_0_", false }, { "rx_queue__drops", false },
		{ "i40e-?-TxRx-0", true }, { "i40e-?-RxTx-0", false }, { "e40i-?-TxRx-0", false },
		{ "mlx5_comp0@pci:?", true }, { "mlx5_kopm0@pci:?", false },
		{ "5%full", true }, { "5full", false }, { "txcnt", false }, { "?", true },
		{ "tail_without_end", false }, { "", false },
	};
	struct strings s = {};

	holds(!strings_add(&s, data, sizeof(data) - 1), "they are taken in");
	strings_sort(&s);
	holds(s.nr_plain == 10 && s.nr_formats == 7, "as many as there are");
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		holds(strings_make(&s, names[i].name) == names[i].made, names[i].name);
	strings_free(&s);
	holds(!strings_make(&s, "rx_packets"), "none are left");
	gives_up();
	return failed > 0;
}
