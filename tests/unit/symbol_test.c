/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's names and addresses agree with /proc/kallsyms. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/kernel/symbol.h"

#define SUBJECT "symbol "
#include "check.h"

/* The slow way; 0: missing, ambiguous, or hidden. */
static uint64_t listed(const char *name)
{
	FILE *list = fopen("/proc/kallsyms", "re");
	char line[512], symbol[256];
	uint64_t found = 0, at;
	unsigned nr = 0;

	while (list && fgets(line, sizeof(line), list))
		if (sscanf(line, "%" SCNx64 " %*c %255s", &at, symbol) == 2 &&
		    !strcmp(symbol, name)) {
			found = at;
			nr++;
		}
	if (list)
		fclose(list);
	return nr == 1 ? found : 0;
}

int main(void)
{
	static const char *const functions[] = {
		"netif_receive_skb", "napi_complete_done", "consume_skb",
	};
	static const char *const variables[] = {
		"init_net", "vmemmap_base", "page_offset_base",
	};
	char shown[192];

	if (!listed("consume_skb")) {
		printf("skip symbol: /proc/kallsyms hides addresses\n");
		return 0;
	}
	for (unsigned i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		uint64_t at = symbol_address(functions[i]);
		const char *name = symbol_at(at);

		holds(at && at == listed(functions[i]), text("%s: its address", functions[i]));
		same_text(text("%s: its name", functions[i]), name ?: "none", functions[i]);
	}
	for (unsigned i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		holds(symbol_address(variables[i]) == listed(variables[i]),
		      text("%s: its address", variables[i]));
	same("of no function: none", symbol_address("nicprobe_is_no_function_of_the_kernel"), 0);
	holds(!symbol_at(16), "of no address: none");
	symbol_text(16, shown, sizeof(shown));
	same_text("of no address: it is shown itself", shown, "0x10");
	return failed > 0;
}
