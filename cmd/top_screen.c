/* SPDX-License-Identifier: GPL-2.0 */
/* top on a terminal: puts the canvas on the screen by ncurses, which sends only what changed. */
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <wchar.h>

#include "cmd/ncurses.h"
#include "cmd/top.h"
#include "lib/attach/held.h"
#include "lib/util/clock.h"
#include "lib/util/error.h"
#include "lib/util/heap.h"
#include "lib/util/log.h"

#define WIDEST	400		/* columns of one line that are put at once */

static volatile sig_atomic_t ended, resized;

static void end(int signal)
{
	ended = signal;
}

static void resize(int signal)
{
	(void)signal;
	resized = 1;
}

static void signals_take(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = end };

	for (unsigned i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		sigaction(ends[i], &action, NULL);
	action.sa_handler = resize;
	sigaction(SIGWINCH, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

enum { PAIR_RED = 1, PAIR_YELLOW, PAIR_GREEN, PAIR_CYAN };

static void colours_begin(void)
{
	static const short of[] = {
		[PAIR_RED] = COLOR_RED, [PAIR_YELLOW] = COLOR_YELLOW, [PAIR_GREEN] = COLOR_GREEN,
		[PAIR_CYAN] = COLOR_CYAN,
	};

	if (!terminal_look().colour || !nc.has_colors() || nc.start_color() == ERR)
		return;
	nc.use_default_colors();
	for (short i = PAIR_RED; i <= PAIR_CYAN; i++)
		nc.init_pair(i, of[i], -1);
}

static attr_t attributes(unsigned style)
{
	return (style & CELL_BOLD ? A_BOLD : 0) | (style & CELL_DIM ? A_DIM : 0) |
	       (style & CELL_REVERSE ? A_REVERSE : 0);
}

/* 0: the terminal's own colours; without colours a critical line is bold. */
static short pair(unsigned style)
{
	return style & CELL_RED ? PAIR_RED : style & CELL_YELLOW ? PAIR_YELLOW :
	       style & CELL_GREEN ? PAIR_GREEN : style & CELL_CYAN ? PAIR_CYAN : 0;
}

static void line_put(const struct canvas *c, unsigned y)
{
	const struct canvas_cell *line = c->cells + (size_t)y * c->width;
	bool colours = nc.has_colors() && *nc.COLOR_PAIRS > PAIR_CYAN && terminal_look().colour;
	wchar_t run[WIDEST + 1];

	for (unsigned x = 0, to; x < c->width; x = to) {
		unsigned style = line[x].style, n = 0;

		for (to = x; to < c->width && line[to].style == style && n < WIDEST; to++)
			if (line[to].c)
				run[n++] = line[to].c;
		run[n] = L'\0';
		nc.attr_set(attributes(style) | (!colours && style & CELL_RED ? A_BOLD : 0),
			    colours ? pair(style) : 0, NULL);
		nc.mvaddnwstr(y, x, run, n);
	}
}

static void show(struct ui *ui)
{
	struct canvas c;

	if (!canvas_make(&c, *nc.COLS, *nc.LINES))
		return;
	ui_draw(ui, &c);
	for (unsigned y = 0; y < c.height; y++)
		line_put(&c, y);
	canvas_free(&c);
	nc.refresh();
}

static int key_of(wint_t key, bool function)
{
	static const struct { int curses, ours; } known[] = {
		{ KEY_UP, UI_KEY_UP }, { KEY_DOWN, UI_KEY_DOWN }, { KEY_LEFT, UI_KEY_LEFT },
		{ KEY_RIGHT, UI_KEY_RIGHT }, { KEY_PPAGE, UI_KEY_PAGE_UP },
		{ KEY_NPAGE, UI_KEY_PAGE_DOWN }, { KEY_HOME, UI_KEY_HOME }, { KEY_END, UI_KEY_END },
		{ KEY_BTAB, UI_KEY_BACKTAB }, { KEY_BACKSPACE, UI_KEY_BACKSPACE },
		{ KEY_ENTER, UI_KEY_ENTER },
	};

	for (unsigned i = 0; function && i < sizeof(known) / sizeof(*known); i++)
		if ((int)key == known[i].curses)
			return known[i].ours;
	if (function)
		return 0;
	if (key == '\r')
		return UI_KEY_ENTER;
	return key == 0x7f || key == '\b' ? UI_KEY_BACKSPACE : (int)key;
}

static void mouse(struct ui *ui)
{
	MEVENT e;

	if (nc.getmouse(&e) == ERR)
		return;
	if (e.bstate & BUTTON4_PRESSED)
		ui_key(ui, UI_KEY_UP);
	else if (e.bstate & BUTTON5_PRESSED)
		ui_key(ui, UI_KEY_DOWN);
	else if (e.bstate & (BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED | BUTTON1_PRESSED))
		ui_click(ui, e.x, e.y, e.bstate & BUTTON1_DOUBLE_CLICKED);
}

static void attach(struct ui *ui, bool for_good)
{
	const struct top_iface *w = ui_interface(ui);
	struct error e = {};

	if (!w) {
		ui_say(ui, true, "no interface is selected");
	} else if (held_release(w->name, for_good)) {	/* even before it is seen as attached */
		ui_say(ui, false, for_good ? "%s stays attached: nicprobe detach %s ends that" :
		       "%s is detached", w->name, w->name);
	} else if (w->attached) {
		ui_say(ui, true, "%s is attached already, and not by this top: nicprobe detach %s "
		       "ends that", w->name, w->name);
	} else if (held_attach(w->name, for_good, &e)) {
		ui_say(ui, true, *e.try ? "%s; %s" : "%s%s", e.what, e.try);
	} else {
		ui_say(ui, false, "attaching %s", w->name);
	}
}

/* All keys that are there. False: quit. */
static bool keys_take(struct ui *ui)
{
	wint_t key;
	int got;

	while ((got = nc.get_wch(&key)) != ERR) {
		int ours = got == KEY_CODE_YES && key == KEY_MOUSE ? 0 :
			   key_of(key, got == KEY_CODE_YES);
		enum ui_action action = UI_NOTHING;
		struct error e = {};

		if (got == KEY_CODE_YES && key == KEY_MOUSE)
			mouse(ui);
		else if (ours)
			action = ui_key(ui, ours);
		if (action == UI_QUIT)
			return false;
		if (action == UI_ATTACH || action == UI_ATTACH_FOR_GOOD)
			attach(ui, action == UI_ATTACH_FOR_GOOD);
		if (action == UI_GO && replay_go(ui->model, &ui->go, &e))
			ui_say(ui, true, "%s", e.what);
		else if (action == UI_GO && ui->go.events)
			ui_say(ui, false, "%s", ui->model->remark);
	}
	return true;
}

static void resize_now(void)
{
	struct winsize size;

	resized = 0;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		nc.resizeterm(size.ws_row, size.ws_col);
	nc.clear();
}

#define CHILDREN 16

/* Waits for a key, a child's news, a signal, or the time of the next moment. False: quit. */
static bool wait_for(struct ui *ui, uint64_t until, const sigset_t *open)
{
	struct pollfd list[1 + CHILDREN] = { { .fd = STDIN_FILENO, .events = POLLIN } };
	uint64_t now = clock_ns(CLOCK_MONOTONIC), left = until > now ? until - now : 0;
	struct timespec most = { left / 1000000000, left % 1000000000 };
	unsigned nr = 1 + held_poll(list + 1, CHILDREN);
	sigset_t taken;
	char what[320];
	bool urgent;

	if (ppoll(list, nr, &most, open) < 0 && errno != EINTR)
		return false;
	/* where a descriptor was ready at once, signals are still pending */
	sigprocmask(SIG_SETMASK, open, &taken);
	sigprocmask(SIG_SETMASK, &taken, NULL);
	if (ended || list[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		return false;
	if (resized)
		resize_now();
	while (held_said(what, sizeof(what), &urgent))
		ui_say(ui, urgent, "%s", what);
	return !(list[0].revents & POLLIN) || keys_take(ui);
}

/* A recording plays as it was recorded, but no pause is longer than a second. */
static int loop_replay(struct ui *ui, const sigset_t *open)
{
	uint64_t next = UINT64_MAX;
	struct model *m = ui->model;
	bool played = false;

	for (;;) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC), step = replay_step(m->source);
		struct error e = {};

		step = step > 1000000000 ? 1000000000 : step;
		if (!m->paused && !step) {
			m->paused = true;
			ui_say(ui, false, "the recording ends here");
		} else if (!m->paused && !played) {
			next = now + step;
		} else if (!m->paused && now >= next) {
			if (model_read(m, &e))
				ui_say(ui, true, "%s", e.what);
			next = now + step;
		}
		played = !m->paused;
		show(ui);
		if (!wait_for(ui, played ? next : now + 3600 * UINT64_C(1000000000), open))
			return EXIT_SUCCESS;
	}
}

static int loop(const struct top_request *wanted, struct ui *ui, const sigset_t *open)
{
	uint64_t step = wanted->interval * 1e9, next = clock_ns(CLOCK_MONOTONIC);
	struct model *m = ui->model;
	unsigned moments = 0;

	heap_keep();
	held_until(wanted->interval);
	for (;;) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC);
		struct error e = {};

		if (now >= next && !m->paused) {
			if (wanted->count && moments > wanted->count)
				return EXIT_SUCCESS;
			if (model_read(m, &e))
				ui_say(ui, true, *e.try ? "%s; try: %s" : "%s%s", e.what, e.try);
			held_until(wanted->interval);
			moments++;
			/* the second moment soon: the first window need not be a whole one */
			next = moments == 1 && step > 300000000 ? now + 300000000 : next + step;
			next = moments == 2 ? now + step : next;
			if (next < now)
				next = now + step;
		} else if (now >= next) {
			held_until(0);		/* it may be paused for long */
			next = now + step;
		}
		show(ui);
		if (!wait_for(ui, next, open))
			return EXIT_SUCCESS;
	}
}

static const char *terminal_wrong(void)
{
	const char *term = getenv("TERM");

	if (!term || !*term)
		return "TERM is not set: the terminal is not known";
	return text("the terminal \"%s\" is not known, or cannot move the cursor", term);
}

int screen_run(const struct top_request *wanted, struct model *m, struct error *e)
{
	struct look look = terminal_look();
	sigset_t taken, open;
	SCREEN *screen;
	struct ui ui;
	int status;

	if (!isatty(STDIN_FILENO))
		return error_set(e, -ENOTTY, "nicprobe top -b",
				 "top needs a terminal for its keys"), EXIT_FAILURE;
	if (ncurses_load(e))
		return EXIT_FAILURE;
	signals_take();
	sigemptyset(&taken);
	for (unsigned i = 0; i < 5; i++)
		sigaddset(&taken, (int[]){ SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH }[i]);
	sigprocmask(SIG_BLOCK, &taken, &open);
	screen = getenv("TERM") && *getenv("TERM") ? nc.newterm(NULL, stdout, stdin) : NULL;
	if (!screen || !nc.tigetstr("cup") || nc.tigetstr("cup") == (char *)-1) {
		if (screen)
			nc.endwin();
		error_set(e, -ENOTTY, "nicprobe top -b", "%s", terminal_wrong());
		return EXIT_FAILURE;
	}
	nc.cbreak();
	nc.noecho();
	nc.nonl();
	nc.keypad(*nc.stdscr, TRUE);
	nc.nodelay(*nc.stdscr, TRUE);
	nc.curs_set(0);
	nc.set_escdelay(25);
	nc.mouseinterval(200);
	nc.mousemask(BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED,
		     NULL);
	colours_begin();
	ui_begin(&ui, m, &look, wanted->interval);
	if (wanted->from) {
		m->paused = true;
		ui.file = basename(wanted->from);
		ui_say(&ui, true, "%s", replay_damage(m->source));
	}
	status = wanted->from ? loop_replay(&ui, &open) : loop(wanted, &ui, &open);
	ui_end(&ui);
	nc.endwin();
	nc.delscreen(screen);
	sigprocmask(SIG_SETMASK, &open, NULL);
	return held_end() ? status : EXIT_FAILURE;
}
