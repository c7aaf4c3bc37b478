/* SPDX-License-Identifier: GPL-2.0 */
/* Interrupts are found in /proc/interrupts, and their queues parsed from the names. */
#include <stdio.h>
#include <string.h>

#include "lib/net/queues.h"
#include "lib/util/log.h"

#define SUBJECT "queues "
#include "check.h"

#define NONE QUEUE_NONE
#define ALL QUEUE_ALL

/* As Linux 6.1, 6.12 and 6.18 print them; two CPUs by default. */
static const struct {
	const char *driver, *line;
	unsigned irq;
	const char *name;
	int rx, tx;
} lines[] = {
	{ "ena", " 28:    1    0 PCI-MSIX-0000:00:05.0   0-edge      ena-mgmnt@pci:0000:00:05.0\n",
	  28, "ena-mgmnt@pci:0000:00:05.0", NONE, NONE },
	{ "ena", " 31:  907  122 PCI-MSI 81922-edge      eth0-Tx-Rx-1\n",
	  31, "eth0-Tx-Rx-1", 1, 1 },
	{ "ixgbevf", " 40:    0    7 PCI-MSI 1048576-edge      ens5-TxRx-0\n",
	  40, "ens5-TxRx-0", 0, 0 },
	{ "ixgbevf", " 42:    0    7 PCI-MSI 1048578-edge      ens5\n", 42, "ens5", NONE, NONE },
	{ "ixgbevf", " 43:    0    7 PCI-MSI 1048579-edge      ens5-rx-3\n",
	  43, "ens5-rx-3", 3, NONE },
	{ "igb", "129: 4294967295 7 IR-PCI-MSIX-0000:03:00.0   12-edge      enp3s0f1-TxRx-11\n",
	  129, "enp3s0f1-TxRx-11", 11, 11 },
	{ "igb", " 28:    0    1  PCI-MSIX-0000:01:00.0   0-edge      eth1\n",
	  28, "eth1", NONE, NONE },
	{ "igbvf", " 50:    0    1  PCI-MSI 1-edge      eth3-tx-0\n", 50, "eth3-tx-0", NONE, 0 },
	{ "igbvf", " 51:    0    1  PCI-MSI 2-edge      eth3-rx-0\n", 51, "eth3-rx-0", 0, NONE },
	{ "igbvf", " 52:    0    1  PCI-MSI 3-edge      eth3:mbx\n", 52, "eth3:mbx", NONE, NONE },
	{ "e1000e", " 24:    5    0  PCI-MSIX-0000:00:04.0   0-edge      eth0-rx-0\n",
	  24, "eth0-rx-0", 0, NONE },
	{ "e1000e", " 25:    5    0  PCI-MSIX-0000:00:04.0   1-edge      eth0-tx-0\n",
	  25, "eth0-tx-0", NONE, 0 },
	{ "e1000", " 10:    5    0   IO-APIC  10-fasteoi   eth0\n", 10, "eth0", NONE, NONE },
	{ "vmxnet3", " 57:    0    5  PCI-MSIX-0000:03:00.0   2-edge      ens160-rxtx-2\n",
	  57, "ens160-rxtx-2", 2, 2 },
	{ "vmxnet3", " 59:    0    0  PCI-MSIX-0000:03:00.0   4-edge      ens160-event-4\n",
	  59, "ens160-event-4", NONE, NONE },
	{ "virtio_net", " 38:    0 4378 PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0\n",
	  38, "virtio2-input.0", 0, NONE },
	{ "virtio_net", " 45: 2612    0 PCI-MSIX-0000:00:03.0   8-edge      virtio2-output.3\n",
	  45, "virtio2-output.3", NONE, 3 },
	{ "virtio_net", " 37:    0    0 PCI-MSIX-0000:00:03.0   0-edge      virtio2-config\n",
	  37, "virtio2-config", NONE, NONE },
	{ "virtio_net", " 38:    0    0 PCI-MSIX-0000:00:03.0   1-edge      virtio2-virtqueues\n",
	  38, "virtio2-virtqueues", ALL, ALL },
	{ "iwlwifi", "140:    0    9 IR-PCI-MSIX-0000:00:14.3   2-edge      iwlwifi:queue_2\n",
	  140, "iwlwifi:queue_2", 2, NONE },
	{ "iwlwifi", "141:    0    9 IR-PCI-MSIX-0000:00:14.3   9-edge      iwlwifi:exception\n",
	  141, "iwlwifi:exception", NONE, NONE },
	{ "ixgbe", " 61:    0    9 PCI-MSI 524289-edge      ens1f0-TxRx-1\n",
	  61, "ens1f0-TxRx-1", 1, 1 },
	{ "i40e", " 62:    0    9 PCI-MSI 524290-edge i40e-enp65s0f0np0-TxRx-63\n",
	  62, "i40e-enp65s0f0np0-TxRx-63", 63, 63 },
	{ "iavf", " 63:    0    9 PCI-MSI 524291-edge      iavf-enp65s0f0v3-TxRx-2\n",
	  63, "iavf-enp65s0f0v3-TxRx-2", 2, 2 },
	{ "mlx5_core", " 64: 0 9 PCI-MSIX-0000:03:00.0 8-edge mlx5_comp7@pci:0000:03:00.0\n",
	  64, "mlx5_comp7@pci:0000:03:00.0", 7, 7 },
	{ "mlx5_core", " 65: 0 9 PCI-MSIX-0000:03:00.0 0-edge mlx5_async0@pci:0000:03:00.0\n",
	  65, "mlx5_async0@pci:0000:03:00.0", NONE, NONE },
	{ "ice", " 66:    0    9 PCI-MSIX-0000:03:00.0 8-edge      ice-enp65s0f0np0-TxRx-7\n",
	  66, "ice-enp65s0f0np0-TxRx-7", 7, 7 },
	{ "iavf", " 67:    0    9 PCI-MSI 524291-edge      iavf-0000:41:01.0:mbx\n",
	  67, "iavf-0000:41:01.0:mbx", NONE, NONE },
	/* its name does not show in which half it is */
	{ "gve", " 68:    0    9 PCI-MSI 65541-edge      ens4-ntfy-block.5\n",
	  68, "ens4-ntfy-block.5", NONE, 5 },
	{ "gve", " 69:    0    9 PCI-MSIX-0000:00:04.0 5-edge gve-ntfy-blk5@pci:0000:00:04.0\n",
	  69, "gve-ntfy-blk5@pci:0000:00:04.0", NONE, 5 },
	{ "gve", " 71:    0    0 PCI-MSIX-0000:00:04.0 16-edge gve-mgmnt@pci:0000:00:04.0\n",
	  71, "gve-mgmnt@pci:0000:00:04.0", NONE, NONE },
	/* no table: the common patterns */
	{ "igc", " 72:    0    9 PCI-MSIX-0000:03:00.0 1-edge      enp3s0-TxRx-0\n",
	  72, "enp3s0-TxRx-0", 0, 0 },
	/* arm64: the trigger is a word of its own */
	{ "ena", " 70:    0    9   ITS-MSI 81921 Edge      eth0-Tx-Rx-0\n",
	  70, "eth0-Tx-Rx-0", 0, 0 },
};

static void check_lines(void)
{
	for (unsigned i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct vector v = { .rx = NONE, .tx = NONE };
		const char *names;
		bool good = vector_line(lines[i].line, 2, &v.irq, &names);

		if (good)
			snprintf(v.name, sizeof(v.name), "%.*s", (int)strcspn(names, "\n"), names);
		vector_match(driver_find(lines[i].driver), &v);
		check(good && v.irq == lines[i].irq && !strcmp(v.name, lines[i].name) &&
		      v.rx == lines[i].rx && v.tx == lines[i].tx,
		      text("%s %s", lines[i].driver, lines[i].name),
		      text("irq %u \"%s\" rx %d tx %d", v.irq, v.name, v.rx, v.tx));
	}
}

static void check_others(void)
{
	static const char *const none[] = {
		"           CPU0       CPU1       \n",
		"NMI:          0          0   Non-maskable interrupts\n",
		" 30:          0          0 PCI-MSIX-0000:00:01.0   2-edge\n", "\n", "",
	};
	unsigned irq;
	const char *names;

	for (unsigned i = 0; i < sizeof(none) / sizeof(*none); i++)
		check(!vector_line(none[i], 2, &irq, &names),
		      text("no interrupt of a device %u", i), "it was taken for one");
	check(vector_line(" 16:  1 2 3 4 IO-APIC  16-fasteoi   eth0, ehci_hcd:usb1\n", 4, &irq,
			  &names) && irq == 16 && !strncmp(names, "eth0, ehci", 10),
	      "a line that is shared, 4 CPUs", "another one");
}

/* The name that a driver will give to the interrupt of a queue. */
static void check_expand(void)
{
	struct vector v;

	check(vector_expand("%i-TxRx-%q", "ens5", 12, &v) && !strcmp(v.name, "ens5-TxRx-12") &&
	      v.rx == 12 && v.tx == 12, "expand both", v.name);
	check(vector_expand("%i-tx-%t", "e", 0, &v) && !strcmp(v.name, "e-tx-0") && v.rx == NONE &&
	      !v.tx, "expand tx", v.name);
	check(!vector_expand("*-input.%r", "e", 0, &v), "expand needs all", v.name);
	check(!vector_expand("%i-012345678901234567890123456789012345678901234-%r", "e", 0, &v),
	      "expand has no room", v.name);
	for (const struct driver *const *d = drivers; *d; d++)
		for (unsigned i = 0; i < MAX_PATTERNS && (*d)->irqs[i]; i++) {
			bool good = vector_expand((*d)->irqs[i], "fifteen_letters", 4095, &v);
			struct vector again = { .rx = NONE, .tx = NONE };

			if (!good)
				continue;
			strcpy(again.name, v.name);
			check(vector_match(*d, &again) && again.rx == v.rx && again.tx == v.tx &&
			      again.len == 4 && !strncmp(again.name + again.at, "4095", 4),
			      text("%s %s", (*d)->name, v.name), "its own pattern refuses it");
		}
}

/* gve: of 8 blocks, those from 4 on serve receive queues; those of inactive queues serve none. */
static void check_halves(void)
{
	struct vector blocks[9];
	struct queues q = { .nr = 9, .vectors = blocks };
	bool good = true;

	for (int n = 0; n < 9; n++) {
		blocks[n] = (struct vector){ .irq = n, .rx = NONE, .tx = NONE };
		strcpy(blocks[n].name, n == 8 ? "gve-mgmnt@pci:0000:00:04.0" :
		       text("gve-ntfy-blk%d@pci:0000:00:04.0", n));
		vector_match(driver_find("gve"), &blocks[n]);
	}
	vectors_halve(&q, 2, 3);
	for (int n = 0; n < 9; n++)
		good &= blocks[n].tx == (n < 3 ? n : NONE) &&
			blocks[n].rx == (n == 4 || n == 5 ? n - 4 : NONE);
	check(good, "halves", "a block serves another queue");
	vectors_halve(&q, 2, 3);
	check(blocks[5].rx == 1 && blocks[2].tx == 2, "halves once", "they were halved again");
}

/* The NAPIs that only complete, if each has an interrupt: none, if queues share theirs. */
static void check_order(void)
{
	static const struct {
		const char *what, *driver, *names[6];
		struct napi_order order;
	} cards[] = {
		{ "igb of 2 queues", "igb", { "eth0", "eth0-rx-0", "eth0-rx-1", "eth0-tx-0",
		  "eth0-tx-1" }, { 4, 0, 2 } },
		{ "igb of more transmit queues", "igb", { "eth0-rx-0", "eth0-tx-0", "eth0-tx-1" },
		  { 3, 0, 1 } },
		{ "those that send come first", "igb", { "eth0-tx-0", "eth0-tx-1", "eth0-rx-0" },
		  { 3, 2, 1 } },
		{ "igb of 2 pairs", "igb", { "eth0", "eth0-TxRx-0", "eth0-TxRx-1" }, {} },
		{ "one pair among them", "ixgbevf", { "eth0-TxRx-0", "eth0-rx-1" }, {} },
		{ "virtio's in turn", "virtio_net", { "virtio2-input.0", "virtio2-output.0",
		  "virtio2-input.1", "virtio2-output.1" }, {} },
		{ "out of order", "igb", { "eth0-rx-1", "eth0-rx-0", "eth0-tx-0" }, {} },
		{ "none that only sends", "igb", { "eth0-rx-0", "eth0-rx-1" }, {} },
		{ "without a name", "igb", { "eth0" }, {} },
	};

	for (unsigned i = 0; i < sizeof(cards) / sizeof(*cards); i++) {
		struct vector v[6];
		struct queues q = { .vectors = v };
		struct napi_order o;

		for (; q.nr < 6 && cards[i].names[q.nr]; q.nr++) {
			v[q.nr] = (struct vector){ .irq = q.nr + 1, .rx = NONE, .tx = NONE };
			strcpy(v[q.nr].name, cards[i].names[q.nr]);
			vector_match(driver_find(cards[i].driver), &v[q.nr]);
		}
		o = queues_order(&q);
		check(!memcmp(&o, &cards[i].order, sizeof(o)), text("order: %s", cards[i].what),
		      text("%u NAPIs, from %u on %u receive", o.all, o.first, o.rx));
	}
}

/*
 * e1000e: its NAPI has both queues, at the first interrupt; the second is named after one of them.
 */
static void check_own(void)
{
	struct vector e1000e[] = {
		{ .rx = 0, .tx = 0, .told = true }, { .rx = NONE, .tx = 0 },
		{ .rx = NONE, .tx = NONE },
	}, pairs[] = {	/* reported differently from the names: the report counts */
		{ .rx = 1, .tx = 1, .told = true }, { .rx = 0, .tx = 0, .told = true },
	};
	struct queues q = { .nr = 3, .vectors = e1000e };

	vectors_own(&q);
	check(e1000e[0].rx == 0 && e1000e[0].tx == NONE && e1000e[1].tx == 0, "own by name",
	      "a queue has two interrupts, or none");
	q = (struct queues){ .nr = 2, .vectors = pairs };
	vectors_own(&q);
	check(pairs[0].rx == 1 && pairs[0].tx == 1 && pairs[1].rx == 0 && pairs[1].tx == 0,
	      "own as told", "what the driver told is gone");
}

/* An interface without a device has queues, but no interrupts. */
static void check_loopback(void)
{
	struct queues q = {};
	struct iface lo;

	check(!iface_read("lo", &lo, NULL) && !queues_read(&lo, driver_find(lo.driver), &q) &&
	      !q.nr && q.nr_rx == 1 && q.nr_tx == 1 && !q.rx_napi[0] && !q.by, "lo",
	      "it has interrupts, or not one queue");
	queues_free(&q);
}

int main(void)
{
	check_lines();
	check_others();
	check_expand();
	check_halves();
	check_order();
	check_own();
	check_loopback();
	return failed > 0;
}
