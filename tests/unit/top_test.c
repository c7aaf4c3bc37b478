/* SPDX-License-Identifier: GPL-2.0 */
/* The views of top and its keys, without a terminal; with arguments it prints a view. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SUBJECT "top "
#include "check.h"
#include "top.h"

struct screen {
	struct made_up made;
	struct top_source source;
	struct model model;
	struct ui ui;
	struct canvas canvas;
	unsigned width, height;
	char *text;			/* what was drawn last */
};

static struct screen *screen(unsigned queues, unsigned width, unsigned height, bool utf8)
{
	struct screen *s = calloc(1, sizeof(*s));
	struct look look = { .width = width, .utf8 = utf8 };

	s->made.queues = queues;
	s->source = (struct top_source){ .read = made_up_read, .of = &s->made };
	s->model = (struct model){ .source = &s->source, .span = 1 };
	s->width = width;
	s->height = height;
	ui_begin(&s->ui, &s->model, &look, 1);
	return s;
}

static const char *draw(struct screen *s)
{
	size_t size;
	FILE *out;

	free(s->text);
	canvas_free(&s->canvas);
	out = open_memstream(&s->text, &size);
	canvas_make(&s->canvas, s->width, s->height);
	ui_draw(&s->ui, &s->canvas);
	canvas_print(&s->canvas, out);
	fclose(out);
	return s->text;
}

/* Seconds pass, one moment each. */
static void pass(struct screen *s, unsigned seconds)
{
	while (seconds--) {
		s->made.moment++;
		model_read(&s->model, NULL);
	}
}

static enum ui_action press(struct screen *s, const char *keys)
{
	enum ui_action action = UI_NOTHING;

	for (; *keys; keys++) {
		draw(s);
		action = ui_key(&s->ui, *keys == 'E' ? UI_KEY_ENTER : *keys == 'B' ? UI_KEY_ESC :
				*keys == 'T' ? UI_KEY_TAB : *keys == 'R' ? UI_KEY_RIGHT : *keys);
	}
	draw(s);
	return action;
}

static void put_away(struct screen *s)
{
	ui_end(&s->ui);
	model_free(&s->model);
	canvas_free(&s->canvas);
	free(s->text);
	free(s);
}

/* The text of the line that has `word`; "": none. */
static const char *line_with(const struct screen *s, const char *word)
{
	static char line[1024];
	const char *at = strstr(s->text, word), *from = at;

	while (from && from > s->text && from[-1] != '\n')
		from--;
	snprintf(line, sizeof(line), "%.*s", at ? (int)strcspn(from, "\n") : 0, from ?: "");
	return line;
}

static bool line_has(const struct screen *s, const char *line, const char *word)
{
	return strstr(line_with(s, line), word);
}

static void numbers(void)
{
	struct screen *s = screen(4, 120, 40, true);

	pass(s, 3);
	draw(s);
	/* 1000 + 2000 + 3000 + 4000 packets of 1000 bytes; 4 * 100 of 100 bytes */
	holds(line_has(s, "  eth0", "10.00k"), "overview: packets received");
	holds(line_has(s, "  eth0", "80.00M"), "overview: bits received");
	holds(line_has(s, "  eth0", "400"), "overview: packets sent");
	holds(line_has(s, "  eth0", "320.0k"), "overview: bits sent");
	holds(line_has(s, "  eth0", "40% q3"), "overview: the busiest queue");
	holds(line_has(s, "  eth0", "  7  "), "overview: drops");
	holds(line_has(s, "  lo", "20"), "overview: what the kernel counts of the other");
	press(s, "jE");
	holds(line_has(s, "received", "10.00k packets/s"), "interface: received");
	holds(line_has(s, "  q2 ", "3000"), "interface: a queue");
	holds(line_has(s, "dropped", "7 packets/s"), "interface: dropped");
	put_away(s);
}

/* The line that is shown in reverse, of those between the first and the last. */
static unsigned reversed(const struct screen *s)
{
	for (unsigned y = 1; y + 1 < s->height; y++)
		if (s->canvas.cells[y * s->width].style & CELL_REVERSE)
			return y;
	return 0;
}

static void keys(void)
{
	struct screen *s = screen(4, 80, 24, true);
	unsigned at;

	pass(s, 3);
	draw(s);
	at = reversed(s);
	press(s, "j");
	same("j selects the next line", reversed(s), at + 1);
	press(s, "j");
	same("j stays at the last", reversed(s), at + 1);
	press(s, "k");
	same("k goes back", reversed(s), at);
	press(s, "jE");
	holds(line_has(s, "nicprobe top", "eth0"), "Enter: an interface");
	press(s, "B");
	holds(!strstr(line_with(s, "nicprobe top"), "eth0"), "Esc: back");
	press(s, "?");
	holds(strstr(s->text, "quit"), "?: the keys");
	same("q in the help goes back", press(s, "q"), UI_NOTHING);
	same("q quits", press(s, "q"), UI_QUIT);
	same("a asks to attach", press(s, "a"), UI_ATTACH);
	same("A asks to attach for good", press(s, "A"), UI_ATTACH_FOR_GOOD);
	press(s, "/etE");
	holds(!*line_with(s, "  lo") && *line_with(s, "  eth0"), "/: only what passes");
	press(s, "B");
	holds(*line_with(s, "  lo"), "Esc: all again");
	put_away(s);
}

/* Which of two stands first? */
static bool before(const struct screen *s, const char *one, const char *other)
{
	const char *a = strstr(s->text, one), *b = strstr(s->text, other);

	return a && b && a < b;
}

static void sorting(void)
{
	struct screen *s = screen(4, 80, 40, false);

	pass(s, 3);
	press(s, "s");
	holds(before(s, "  eth0 ", "  lo "), "s: by name");
	press(s, "s");
	holds(before(s, "  lo ", "  eth0 "), "s again: the other way round");
	press(s, "Rs");
	holds(before(s, "  eth0 ", "  lo "), "s in the next column: the most first");
	press(s, "gE");
	holds(before(s, "  q0 ", "  q3 "), "queues come by number");
	press(s, "Rs");
	holds(before(s, "  q3 ", "  q0 "), "s: the busiest queue first");
	put_away(s);
}

static void windows(void)
{
	struct screen *s = screen(4, 80, 24, true);

	pass(s, 30);
	press(s, ">>>");
	holds(line_has(s, "nicprobe top", "window 10 s"), ">: a longer window");
	holds(line_has(s, "  eth0", "10.00k"), "a rate of 10 s is per second");
	press(s, "<<<");
	holds(line_has(s, "nicprobe top", "window 1 s"), "<: a shorter one");
	press(s, "z");
	pass(s, 4);
	draw(s);
	holds(line_has(s, "nicprobe top", "4 s since z"), "z: since then");
	press(s, " ");
	holds(s->model.paused && line_has(s, "nicprobe top", "paused"), "Space: pause");
	press(s, " ");
	holds(!s->model.paused, "Space again: go on");
	put_away(s);
}

static void minute(void)
{
	struct screen *s = screen(4, 100, 60, true);
	struct snapshot then;
	double from, to;

	pass(s, 30);
	holds(!model_ago(s->model.list[1], &then, &from, &to), "no minute has passed");
	pass(s, 70);
	holds(model_ago(s->model.list[1], &then, &from, &to), "a minute has passed");
	holds(to >= 59.5 && to < 70 && from - to > 8 && from - to < 12, "…about so long ago");
	snapshot_free(&then);
	holds(s->model.list[1]->nr_kept < 24, "older moments are few");
	put_away(s);
}

static void changes(void)
{
	struct screen *s = screen(4, 80, 24, true);

	pass(s, 3);
	press(s, "jE");
	s->made.anew = true;
	pass(s, 1);
	draw(s);
	holds(strstr(s->text, "the first window has just begun"), "attached anew: no difference");
	pass(s, 1);
	draw(s);
	holds(line_has(s, "received", "10.00k packets/s"), "…and then one");
	s->made.gone = true;
	pass(s, 1);
	draw(s);
	holds(strstr(s->text, "the interface is gone"), "it is gone");
	press(s, "B");
	holds(!strstr(s->text, "eth0"), "…from the list, too");
	s->made.denied = true;
	pass(s, 1);
	draw(s);
	holds(strstr(s->text, "cannot be seen"), "what cannot be seen is said");
	put_away(s);
}

/* Every view at every size: nothing is written outside, and what matters is there. */
static void sizes_all(void)
{
	static const unsigned widths[] = { 1, 20, 40, 41, 60, 80, 119, 120, 200, 300 };
	static const unsigned heights[] = { 1, 2, 3, 10, 24, 100 };
	static const char *const views[] = { "", "jE", "jEjE", "jEGE", "?" };

	for (unsigned w = 0; w < sizeof(widths) / sizeof(*widths); w++)
		for (unsigned h = 0; h < sizeof(heights) / sizeof(*heights); h++)
			for (unsigned v = 0; v < sizeof(views) / sizeof(*views); v++) {
				struct screen *s = screen(64, widths[w], heights[h], v & 1);

				pass(s, 3);
				press(s, views[v]);
				must(!s->ui.doc.short_of_memory, "memory", "there was too little");
				if (widths[w] >= 40 && heights[h] >= 10 && !v)
					must(line_has(s, "  eth0", "2080k") ||
					     line_has(s, "  eth0", "2.080M"), "40x10 has the rate",
					     text("not at %ux%u", widths[w], heights[h]));
				put_away(s);
			}
	check(true, "every view at every size", "");
}

/* Keys that go through a recording, and what they ask for. */
static void recorded(void)
{
	struct screen *s = screen(4, 100, 30, true);

	pass(s, 2);
	holds(press(s, "t") == UI_NOTHING, "t: what is now has no next moment");
	s->ui.file = "a.rec";
	holds(press(s, "t") == UI_GO && s->ui.go.moments == 1, "t: the next moment");
	holds(press(s, "{") == UI_GO && s->ui.go.seconds == -600, "{: ten minutes back");
	holds(press(s, "e") == UI_GO && s->ui.go.events == 1 && !s->ui.go.moments, "e: an event");
	press(s, "b12:3");
	holds(strstr(s->text, "go to 12:3_"), "b: a time is typed");
	holds(press(s, "4E") == UI_GO && !strcmp(s->ui.go.time, "12:34"), "Enter: to that time");
	holds(press(s, "b12B") == UI_NOTHING && !strstr(s->text, "go to"), "Esc: to no time");
	holds(press(s, "a") == UI_NOTHING && strstr(s->text, "nothing to attach"), "a: refused");
	holds(!strncmp(s->text, "nicprobe top a.rec", 18), "the file is named");
	press(s, "jE");
	model_forget(&s->model);
	pass(s, 2);
	draw(s);
	holds(line_has(s, "received", "10.00k packets/s"), "another time: the same interface");
	put_away(s);
}

static void past(void)
{
	struct past p = {};
	double least, most;
	char spark[64];

	for (unsigned i = 0; i < 8; i++) {
		past_moment(&p);
		past_put(&p, PAST_SENT, 0, 0, i);
	}
	past_spark(&p, past_find(&p, PAST_SENT, 0, 0), 10, 10, false, spark, sizeof(spark));
	same_text("a curve ends at the right", spark, "  _.-~+=*#");
	holds(past_range(&p, past_find(&p, PAST_SENT, 0, 0), 3, &least, &most) && least == 5 &&
	      most == 7, "the range of the last three");
	past_bar(.5, 4, false, spark, sizeof(spark));
	same_text("half a bar", spark, "##");
	past_free(&p);
}

/* top_test WIDTH HEIGHT SECONDS QUEUES utf8|ascii KEYS */
static int print(char **argv)
{
	struct screen *s = screen(atoi(argv[4]), atoi(argv[1]), atoi(argv[2]),
				  !strcmp(argv[5], "utf8"));

	pass(s, atoi(argv[3]));
	press(s, argv[6]);
	fputs(s->text, stdout);
	put_away(s);
	return 0;
}

int main(int argc, char **argv)
{
	setenv("TZ", "UTC", 1);
	tzset();
	if (argc == 7)
		return print(argv);
	numbers();
	keys();
	sorting();
	windows();
	minute();
	changes();
	recorded();
	past();
	sizes_all();
	return failed > 0;
}
