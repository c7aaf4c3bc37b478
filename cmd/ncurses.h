/* SPDX-License-Identifier: GPL-2.0 */
/* ncurses, loaded when top draws on a terminal. */
#ifndef NICPROBE_CMD_NCURSES_H
#define NICPROBE_CMD_NCURSES_H

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <curses.h>

struct error;

#define NCURSES_SYMBOLS(S)								\
	S(COLOR_PAIRS) S(COLS) S(LINES) S(attr_set) S(cbreak) S(clear) S(curs_set)	\
	S(delscreen) S(endwin) S(get_wch) S(getmouse) S(has_colors) S(init_pair)	\
	S(keypad) S(mouseinterval) S(mousemask) S(mvaddnwstr) S(newterm) S(nodelay)	\
	S(noecho) S(nonl) S(refresh) S(resizeterm) S(set_escdelay) S(start_color)	\
	S(stdscr) S(tigetstr) S(use_default_colors)

/* Function x as nc.x, and variable x as *nc.x, after ncurses_load(). */
struct ncurses {
#define S(name) typeof(&(name)) name;
	NCURSES_SYMBOLS(S)
#undef S
};
extern struct ncurses nc;

/* 0; -ENOENT and an error: it is not installed. */
int ncurses_load(struct error *);

#endif
