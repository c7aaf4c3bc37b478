/* SPDX-License-Identifier: GPL-2.0 */
/* What top shows, and what keys do; no terminal is needed for it. */
#ifndef NICPROBE_TOP_UI_H
#define NICPROBE_TOP_UI_H

#include "render/render.h"
#include "top/canvas.h"
#include "top/doc.h"
#include "top/model.h"

/* Keys that are no characters. */
enum {
	UI_KEY_ENTER = '\n', UI_KEY_TAB = '\t', UI_KEY_ESC = 27,
	UI_KEY_FIRST = 0x110000, UI_KEY_UP, UI_KEY_DOWN, UI_KEY_LEFT, UI_KEY_RIGHT, UI_KEY_PAGE_UP,
	UI_KEY_PAGE_DOWN, UI_KEY_HOME, UI_KEY_END, UI_KEY_BACKTAB, UI_KEY_BACKSPACE,
};

enum ui_view { VIEW_OVERVIEW, VIEW_INTERFACE, VIEW_QUEUE, VIEW_METER, VIEW_HELP, NR_VIEWS };

enum ui_action {
	UI_NOTHING, UI_QUIT,
	UI_ATTACH, UI_ATTACH_FOR_GOOD,	/* ui_interface() */
	UI_GO,				/* to another moment of a recording: ui->go */
};

/* Where to go in a recording: by one of these. */
struct ui_go {
	int moments, seconds, events;	/* so many further; negative: back */
	bool first, last;
	const char *time;		/* as typed */
};

/* Lines of an interface that can be selected. */
#define TARGET_QUEUE	0x10000		/* + queue */
#define TARGET_METER	0x20000		/* + meter */
#define TARGET_LATENCY	0x30000		/* + meter * LATENCIES + number of the metric */
#define LATENCIES	32

/* A view, and where one is in it. */
struct ui_place {
	enum ui_view view;
	unsigned iface;			/* id of the interface */
	int queue, meter;
	int selected;			/* a target */
	unsigned top;			/* the first line shown */
	int section;			/* the line of that which Tab came to */
	bool follow;			/* scroll to what is selected */
};

/* How a table is sorted: by a column, DOC_NOTHING: as it comes; it is chosen by `column`. */
struct ui_sort {
	int column, by;
	bool reverse;
};

#define PLACES	6

struct ui {
	struct look look;
	struct model *model;
	double interval;		/* seconds from one moment to the next */
	bool plain;			/* lines for a log: nobody can press a key */
	unsigned depth;
	struct ui_place places[PLACES];	/* the last one, [depth], is shown */
	struct ui_sort sort[NR_VIEWS];
	char filter[64];
	bool typing;			/* the filter */
	const char *file;		/* the recording that is shown; NULL: what is now */
	bool timing;			/* a time is typed */
	char time[32];
	struct ui_go go;
	char message[400];		/* of the last line, until the next key */
	bool urgent;			/* it is an error */
	struct doc doc;			/* what was drawn last */
	unsigned rows;			/* of it, between the first and the last line */
};

void ui_begin(struct ui *, struct model *, const struct look *, double interval);
void ui_draw(struct ui *, struct canvas *);
enum ui_action ui_key(struct ui *, int key);
/* The mouse, pressed in this cell; `twice`: a double click. */
void ui_click(struct ui *, unsigned x, unsigned y, bool twice);
/* The interface that is shown or selected; NULL: none. */
struct top_iface *ui_interface(const struct ui *);
__attribute__((format(printf, 3, 4)))
void ui_say(struct ui *, bool urgent, const char *what, ...);
void ui_end(struct ui *);

/* The views: each writes a doc. */
void view_overview(struct ui *, struct doc *);
void view_interface(struct ui *, struct doc *);
void view_queue(struct ui *, struct doc *);
void view_meter(struct ui *, struct doc *);
void view_help(struct doc *);

/* Does the filter let a line of this name pass? */
bool ui_passes(const struct ui *, const char *name);

#endif
