/* SPDX-License-Identifier: GPL-2.0 */
/* What is known about a driver, and what of it exists in a kernel or a module file. */
#ifndef NICPROBE_FACTS_H
#define NICPROBE_FACTS_H

#include "lib/core/nic_driver.h"
#include "lib/trace/spot.h"
#include "render/json_writer.h"
#include "render/text.h"

struct module;
struct running;

struct facts {
	const struct driver *driver;
	const struct module *module;	/* the file to check; NULL: check the running kernel */
	const struct running *running;	/* NULL (without a module): check nothing */
	const char *only;		/* only names of this module; NULL: all names */
	unsigned version;		/* of the kernel that is checked; 0: unknown */
	const char *no_fentry, *no_kprobe;	/* why the method cannot be used; NULL: it can */
	unsigned missing;		/* counts expected names that are missing */
};

/* Result for one name: was it checked, does it exist, and is it expected in this version? */
struct verdict {
	bool asked, there, expected;
	struct spot spot;
};

struct verdict facts_function(struct facts *, const struct driver_name *);
struct verdict facts_tracepoint(struct facts *, const struct driver_name *);
struct verdict facts_stat(struct facts *, const struct driver_stat *);
struct verdict facts_irq(struct facts *, unsigned i);

/* Does the name belong to the module `only`? */
bool facts_name(const struct facts *, const struct driver_name *);
/* Is `only` the driver's own module, which has its statistics and interrupts? */
bool facts_own(const struct facts *);
bool facts_functions(const struct facts *);	/* are any functions known? */

/* A readable form of a pattern: "queue_N_tx_cnt", "IFACE-TxRx-N". */
const char *facts_pattern(const char *pattern);
/* "only since 6.12", "only until 6.1"; "": in all versions. */
const char *facts_range(unsigned since, unsigned until);
/* How the driver counts bytes. */
const char *facts_received(const struct driver *);
const char *facts_sent(const struct driver *);
extern const char *const facts_rx_queue[];

void facts_text(struct page *, struct facts *);
void facts_json(struct json *, struct facts *);		/* adds keys to the open object */

#endif
