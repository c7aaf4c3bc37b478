/* SPDX-License-Identifier: GPL-2.0 */
/* What is known of a driver, and what became of it in the kernel or the module that is asked. */
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
	const struct module *module;	/* is asked; NULL: the running kernel is */
	const struct running *running;	/* NULL: nobody is asked what is there */
	const char *only;		/* what this module has; NULL: all there is */
	unsigned version;		/* of the kernel that is asked; 0: not known */
	const char *no_fentry, *no_kprobe;	/* why none can be used there; NULL: they can */
	unsigned missing;		/* names that should be there and are not; counts up */
};

/* What is asked has it, or it has not: and should it? */
struct verdict {
	bool asked, there, expected;
	struct spot spot;
};

struct verdict facts_function(struct facts *, const struct driver_name *);
struct verdict facts_tracepoint(struct facts *, const struct driver_name *);
struct verdict facts_stat(struct facts *, const struct driver_stat *);
struct verdict facts_irq(struct facts *, unsigned i);

/* Is it of the module that is asked? */
bool facts_name(const struct facts *, const struct driver_name *);
/* Of the driver's own module: statistics, interrupts. */
bool facts_own(const struct facts *);
bool facts_functions(const struct facts *);	/* are there any to show? */

/* "queue_N_tx_cnt", "IFACE-TxRx-N": a pattern as a person reads it. */
const char *facts_pattern(const char *pattern);
/* "only since 6.12", "only until 6.1"; "": in all. */
const char *facts_range(unsigned since, unsigned until);
/* How the bytes that it counts come about. */
const char *facts_received(const struct driver *);
const char *facts_sent(const struct driver *);
extern const char *const facts_rx_queue[];

void facts_text(struct page *, struct facts *);
void facts_json(struct json *, struct facts *);		/* keys of an object that is open */

#endif
