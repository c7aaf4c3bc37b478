/* SPDX-License-Identifier: GPL-2.0 */
/* What `nicprobe serve` reads at a scrape, shared by its files. */
#ifndef NICPROBE_CMD_SERVE_H
#define NICPROBE_CMD_SERVE_H

#include "cmd/cmd.h"
#include "serve/http.h"

#define HELD	3600		/* seconds: scrapes are never so far apart */

/* An attached interface, and the moments that its windows begin at. */
struct served;

struct scraper {
	struct look look;
	__u64 wanted;			/* 1 << METER_x; 0: all that are attached */
	unsigned nr;
	struct served *all;
	unsigned unread;		/* attachments that could not be read, by the last scrape */
	char said[512];			/* the last failure that was printed; "": none */
};

/* All interfaces at this moment: totals, and the windows that their findings are of. */
struct scrape {
	unsigned nr;
	const struct snapshot **totals, **windows;
};

/* 0 or -errno; scrape_end() in either case, when the pages are written. */
int scrape_begin(struct scraper *, struct scrape *, struct error *);
void scrape_end(struct scraper *, struct scrape *);
void scraper_free(struct scraper *);

/* Print a failure, unless it is the one that was printed last. */
void scraper_tell(struct scraper *, const struct error *);

extern const struct http_page serve_pages[];	/* their argument is a struct scraper */

#endif
