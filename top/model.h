/* SPDX-License-Identifier: GPL-2.0 */
/* What top knows: of each interface the present window, and the last minutes. */
#ifndef NICPROBE_TOP_MODEL_H
#define NICPROBE_TOP_MODEL_H

#include "top/past.h"
#include "top/source.h"

#define KEPT_MOST	32	/* totals of one interface: see kept_prune() */
#define AGO		60	/* seconds: "a minute ago" */

/* Rates of an interface that is not attached, as the kernel counts. */
struct link_rates {
	bool known;
	double seconds;
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes, dropped;
};

struct top_iface {
	unsigned id;			/* stays, and is that of its name */
	char name[96], driver[32], state[320];
	unsigned rx_queues, tx_queues;
	bool up, attached, ours, gone;
	bool fresh;			/* its last moment is not in the past yet */
	unsigned nr_kept;
	struct top_item *kept[KEPT_MOST];	/* the oldest first */
	struct top_item *zero;		/* where `z` was pressed; NULL: nowhere */
	struct snapshot window;		/* of what is attached; .interval: there is one */
	struct link_rates link;		/* of what is not */
	struct past past;
};

struct model {
	struct top_source *source;
	unsigned nr, nr_ids;
	struct top_iface **list;
	char (*ids)[96];		/* names of all interfaces that were ever seen, by id */
	double span;			/* seconds of a window; 0: since `z` */
	struct timespec when;		/* of the present moment */
	double seconds;			/* of the present windows */
	bool paused;
	char remark[320];
};

/* Reads the next moment. 0 or -errno: nothing has changed then. */
int model_read(struct model *, struct error *);
/* The windows again, after `span` or `z` has changed. */
void model_again(struct model *);
/* Forgets all moments: the next one is of another time. Interfaces keep their ids. */
void model_forget(struct model *);
/* From now on windows begin here. */
void model_zero(struct model *);
void model_free(struct model *);
struct top_iface *model_find(const struct model *, unsigned id);

/*
 * The difference of two moments of about a minute ago, in `then`; *from, *to: seconds before now.
 * False: the interface is not attached for so long. snapshot_free() it.
 */
bool model_ago(struct top_iface *, struct snapshot *then, double *from, double *to);

#endif
