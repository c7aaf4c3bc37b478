/* SPDX-License-Identifier: GPL-2.0 */
/* The pages of nicprobe serve: the metrics, whether it runs, and what there is. */
#include <inttypes.h>
#include <string.h>

#include "cmd/serve.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "render/shown.h"
#include "serve/negotiate.h"

#define OPENMETRICS	"application/openmetrics-text; version=1.0.0; charset=utf-8"
#define PROMETHEUS	"text/plain; version=0.0.4; charset=utf-8"

/* What cannot be read is no figure: the scrape fails, and says why. */
static void scrape_failed(FILE *out, struct scraper *s, struct http_answer *a,
			  const struct error *e)
{
	a->status = 503;
	fprintf(out, "%s\n", e->what);
	if (*e->try)
		fprintf(out, "  try: %s\n", e->try);
	scraper_tell(s, e);
}

static void metrics(FILE *out, const struct http_request *request, struct http_answer *a, void *arg)
{
	bool open = accepts_openmetrics(request->accept);
	const struct renderer *format = open ? &renderer_openmetrics : &renderer_prometheus;
	struct scraper *s = arg;
	struct look look = s->look;
	struct scrape now;
	struct error e = {};

	a->varies = true;
	if (scrape_begin(s, &now, &e)) {
		scrape_failed(out, s, a, &e);
	} else {
		a->type = open ? OPENMETRICS : PROMETHEUS;
		look.unread = s->unread;
		look.windows = now.windows;
		format->all(out, now.totals, now.nr, &look);
	}
	scrape_end(s, &now);
}

static void healthy(FILE *out, const struct http_request *request, struct http_answer *a, void *arg)
{
	(void)request, (void)a, (void)arg;
	fputs("nicprobe serves.\n", out);
}

static void escaped(FILE *out, const char *s)
{
	for (; *s; s++)
		switch (*s) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		default:
			fputc((unsigned char)*s < ' ' || *s == 0x7f ? '?' : *s, out);
		}
}

static void finding_write(FILE *out, const struct finding *f)
{
	char try[2048];

	finding_try(f, try, sizeof(try));
	fprintf(out, "<li>%s%s, %s: ", f->under >= 0 ? "so also " : "",
		severity_names[f->severity], f->kind->id);
	escaped(out, f->what);
	if (*try) {
		fputs("<br>try: <code>", out);
		escaped(out, try);
		fputs("</code>", out);
	}
	fputs("</li>\n", out);
}

static void interface_write(FILE *out, const struct snapshot *s)
{
	fputs("<h2>", out);
	escaped(out, s->name);
	fputs("</h2>\n<p>", out);
	escaped(out, target_text(&s->meta));
	if (*s->state) {
		fputs(": ", out);
		escaped(out, s->state);
	}
	fprintf(out, "</p>\n<p>Findings of the last %.0f seconds: %s</p>\n<ul>\n", s->seconds,
		s->findings.nr ? "" : "none");
	for (unsigned i = 0; i < s->findings.nr; i++)
		finding_write(out, &s->findings.list[i]);
	fputs("</ul>\n", out);
}

static void landing(FILE *out, const struct http_request *request, struct http_answer *a, void *arg)
{
	struct scraper *s = arg;
	struct scrape now;
	struct error e = {};

	(void)request;
	if (scrape_begin(s, &now, &e)) {
		scrape_failed(out, s, a, &e);
		scrape_end(s, &now);
		return;
	}
	a->type = "text/html; charset=utf-8";
	fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
		"<title>nicprobe</title>\n"
		"<meta name=\"viewport\" content=\"width=device-width\">\n"
		"<style>body{font-family:sans-serif;max-width:60em;margin:1em auto;padding:0 1em;"
		"color-scheme:light dark}li{margin:.5em 0}</style></head>\n<body>\n"
		"<h1>nicprobe %s</h1>\n<p><a href=\"/metrics\">/metrics</a>: the metrics, for "
		"Prometheus<br>\n<a href=\"/-/healthy\">/-/healthy</a>: whether this server "
		"runs</p>\n", NICPROBE_VERSION);
	if (!now.nr)
		fputs("<p>Nothing is attached.</p>\n", out);
	if (s->unread)
		fprintf(out, "<p>%u attached interfaces cannot be read: ", s->unread);
	if (s->unread)
		escaped(out, s->said);
	if (s->unread)
		fputs("</p>\n", out);
	for (unsigned i = 0; i < now.nr; i++)
		interface_write(out, now.windows[i]);
	fputs("</body>\n</html>\n", out);
	scrape_end(s, &now);
}

const struct http_page serve_pages[] = {
	{ "/", landing },
	{ "/metrics", metrics },
	{ "/-/healthy", healthy },
	{}
};
