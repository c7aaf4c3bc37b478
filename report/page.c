/* SPDX-License-Identifier: GPL-2.0 */
/* The page: its head, its table of contents, and its sections in order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/util/log.h"
#include "report/html.h"
#include "report/report.h"

static const char *const side_names[] = { "A", "B" };

void side_begin(struct report *r, const struct pair *p, unsigned side)
{
	fputs("<div class=\"side\">", r->out);
	if (r->nr_files > 1)
		html(r->out, "<p class=\"of\"><b>%s</b> %s%s</p>\n", side_names[side],
		     r->files[side].path, p->c[side] ? "" : ": it has no such interface");
}

void side_end(struct report *r)
{
	fputs("</div>\n", r->out);
}

/* The same names belong together; where each file has one interface, these do. */
static bool pairs_make(struct report *r)
{
	struct file_account *a = &r->files[0], *b = &r->files[1];
	bool two = r->nr_files > 1, only = two && a->nr == 1 && b->nr == 1;

	r->pairs = calloc(a->nr + b->nr + 1, sizeof(*r->pairs));
	for (unsigned i = 0; r->pairs && i < a->nr; i++) {
		struct pair *p = &r->pairs[r->nr_pairs];

		*p = (struct pair){ .c = { &a->list[i] }, .nr = r->nr_pairs };
		r->nr_pairs++;
		for (unsigned k = 0; two && k < b->nr; k++)
			if (only || !strcmp(a->list[i].name, b->list[k].name))
				p->c[1] = &b->list[k];
	}
	for (unsigned k = 0; r->pairs && two && k < b->nr; k++) {
		bool taken = false;

		for (unsigned i = 0; i < r->nr_pairs; i++)
			taken |= r->pairs[i].c[1] == &b->list[k];
		if (!taken) {
			r->pairs[r->nr_pairs] = (struct pair){ .c = { NULL, &b->list[k] },
							       .nr = r->nr_pairs };
			r->nr_pairs++;
		}
	}
	return r->pairs;
}

static const char *date_text(uint64_t ns)
{
	time_t seconds = ns / 1000000000;
	struct tm tm;
	char at[40];

	strftime(at, sizeof(at), "%F %T %Z", localtime_r(&seconds, &tm));
	return text("%s", at);
}

static void file_put(FILE *out, const struct file_account *a, const char *side)
{
	uint64_t begin = UINT64_MAX, end = 0;

	for (unsigned i = 0; i < a->nr; i++) {
		begin = course_begin(&a->list[i]) < begin ? course_begin(&a->list[i]) : begin;
		end = course_end(&a->list[i]) > end ? course_end(&a->list[i]) : end;
	}
	html(out, "<p class=\"about\">%s%s<b>%s</b>: host %s, Linux %s, nicprobe %s; from %s to "
	     "%s</p>\n", side, *side ? " " : "", a->path, a->about.host, a->about.kernel,
	     a->about.version, date_text(begin), date_text(end));
	if (*a->damage)
		html(out, "<p class=\"verdict s1\"><span class=\"badge\">damaged</span> <span>%s"
		     "</span></p>\n", a->damage);
	for (unsigned i = 0; i < a->nr_left; i++)
		html(out, "<p class=\"note\"><b>%s</b> is not shown: %s</p>\n", a->left[i].name,
		     a->left[i].why);
}

static void head_put(struct report *r)
{
	FILE *out = r->out;

	html(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
	     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	     "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>nicprobe: %s on %s"
	     "</title>\n<style>\n", r->files[0].list[0].name, r->files[0].about.host);
	fputs(report_style, out);
	fputs(r->nr_files > 1 ? "</style>\n</head>\n<body class=\"two\">\n" : "</style>\n</head>\n"
	      "<body class=\"one\">\n", out);
	fputs("<a class=\"skip\" href=\"#main\">Skip to the findings</a>\n"
	      "<header><h1>nicprobe report</h1>\n", out);
	for (unsigned i = 0; i < r->nr_files; i++)
		file_put(out, &r->files[i], r->nr_files > 1 ? side_names[i] : "");
	fputs("</header>\n", out);
}

static void contents_put(struct report *r)
{
	FILE *out = r->out;

	fputs("<nav aria-label=\"Contents\"><ul>\n", out);
	for (unsigned i = 0; i < r->nr_pairs; i++) {
		const struct pair *p = &r->pairs[i];

		html(out, "<li><a href=\"#i%u\"><b>%s</b></a><ul>\n", i,
		     (p->c[0] ?: p->c[1])->name);
		if (r->differing)
			html(out, "<li><a href=\"#i%u-compare\">what differs</a></li>\n", i);
		html(out, "<li><a href=\"#i%u-findings\">findings</a></li>\n<li><a "
		     "href=\"#i%u-time\">what happened when</a></li>\n", i, i);
		for (int id = 0; id < NR_METERS; id++)
			if (meter_reported(p, id))
				html(out, "<li><a href=\"#i%u-%s\"><code>%s</code></a></li>\n", i,
				     meters[id]->name, meters[id]->name);
		fputs("</ul></li>\n", out);
	}
	fputs("</ul></nav>\n", out);
}

static bool differing_all(struct report *r)
{
	bool good = true;

	if (r->nr_files < 2)
		return true;
	r->differing = calloc(r->nr_pairs + 1, sizeof(*r->differing));
	for (unsigned i = 0; r->differing && i < r->nr_pairs; i++)
		good &= differing_find(&r->differing[i], &r->pairs[i]);
	return r->differing && good;
}

int report_write(struct report *r)
{
	bool good = pairs_make(r) && differing_all(r);

	if (good) {
		head_put(r);
		contents_put(r);
		fputs("<main id=\"main\">\n", r->out);
		for (unsigned i = 0; i < r->nr_pairs; i++)
			report_summary(r, &r->pairs[i]);
		for (unsigned i = 0; i < r->nr_pairs; i++) {
			if (r->differing)
				report_compare(r, &r->pairs[i], &r->differing[i]);
			report_findings(r, &r->pairs[i]);
			report_timeline(r, &r->pairs[i]);
			report_meters(r, &r->pairs[i]);
		}
		fputs("</main>\n</body>\n</html>\n", r->out);
	}
	for (unsigned i = 0; r->differing && i < r->nr_pairs; i++)
		differing_free(&r->differing[i]);
	free(r->differing);
	free(r->pairs);
	return good ? 0 : -ENOMEM;
}
