/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe bench in rounds: two settings in turn (--ab), or the present against a baseline. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/bench.h"
#include "cmd/cmd.h"
#include "render/json_writer.h"
#include "trial/stats/against.h"
#include "trial/stats/said.h"
#include "trial/stats/settle.h"

#define BASELINE_ROUNDS 10

bool versus_wanted(const struct versus *v)
{
	return v->ab[0] || v->save || v->against;
}

int versus_check(const struct versus *v)
{
	if (v->ab[0] && (v->save || v->against))
		return usage_error("nicprobe bench --help",
				   "--ab cannot be combined with --save or --against");
	if (!v->ab[0] && (v->minutes >= 0 || v->pause >= 0 || v->figure))
		return usage_error("nicprobe bench --help", "%s requires --ab",
				   v->figure ? "--figure" :
				   v->pause >= 0 ? "--pause" : "--minutes");
	if (v->rounds && !versus_wanted(v))
		return usage_error("nicprobe bench --help",
				   "--rounds requires --ab, --save or --against");
	if (v->tolerance >= 0 && !v->ab[0] && !v->against)
		return usage_error("nicprobe bench --help",
				   "--tolerance requires --ab or --against");
	return 0;
}

/* Opens the JSON object that holds either kind of comparison. */
static struct json document_open(const struct bench *b)
{
	struct json j = { .out = stdout };

	json_open(&j, NULL, '{');
	json_uint(&j, "nicprobe", 1);
	json_string(&j, "interface", b->port.label);
	json_string(&j, "driver", b->port.iface.driver);
	return j;
}

static void document_close(struct json *j)
{
	json_close(j);
	fputc('\n', stdout);
}

static void ab_show(const struct bench *b, const struct ab *t)
{
	const struct look look = terminal_look();
	struct json j;

	if (!json_wanted) {
		ab_table(stdout, &look, t);
		return;
	}
	j = document_open(b);
	ab_json(&j, t);
	document_close(&j);
}

/* A socket for link queries in the port's namespace; -1: none. */
static int port_link(const struct port *p)
{
	int sock = port_enter(p, NULL) ? -1 : link_socket();

	port_home();
	return sock;
}

static int ab(struct bench *b, const struct versus *v)
{
	struct ab_options o = ab_defaults;
	struct ab t;
	int err;

	o.command[0] = v->ab[0];
	o.command[1] = v->ab[1];
	o.iface = b->port.iface.name;
	o.link = port_link(&b->port);
	o.figure = v->figure;
	o.rounds = v->rounds ?: o.rounds;
	o.seconds = v->minutes >= 0 ? 60 * v->minutes : o.seconds;
	o.pause = v->pause >= 0 ? v->pause : o.pause;
	o.tolerance = v->tolerance >= 0 ? v->tolerance : o.tolerance;
	o.stop = &trial_stop;
	o.round = bench_round;
	o.ctx = b;
	o.error = b->error;
	o.progress = isatty(STDERR_FILENO) ? ab_progress : NULL;
	err = ab_run(&o, &t);
	if (o.progress)
		ab_progress_end();
	if (o.link >= 0)
		close(o.link);
	if (!err)
		ab_show(b, &t);
	ab_free(&t);
	return err ? failed(b->error) : EXIT_SUCCESS;
}

/* The settings that figures depend on: only baselines with the same settings are comparable. */
static void describe(const struct bench *b, struct record *r)
{
	static const char *const ways[] = { "auto", "live", "packet" };
	const struct load *l = &b->load;

	snprintf(r->iface, sizeof(r->iface), "%s", b->port.iface.name);
	snprintf(r->driver, sizeof(r->driver), "%s", b->port.iface.driver);
	for (const struct scenario *const *s = b->wanted; *s; s++)
		snprintf(strchr(r->scenario, 0), sizeof(r->scenario) - strlen(r->scenario), "%s%s",
			 *r->scenario ? " " : "", (*s)->name);
	record_set(r, "peer", "%s", b->has_peer ? "yes" : "no");
	record_set(r, "seconds", "%g", b->seconds);
	record_set(r, "size", "%u", l->frame.size);
	record_set(r, "flows", "%u", l->flows);
	record_set(r, "threads", "%u", l->threads);
	record_set(r, "ip", "%d", l->frame.ipv6 ? 6 : 4);
	record_set(r, "vlan", "%u", l->frame.vlan);
	record_set(r, "ecn", "%u", l->frame.ecn);
	record_set(r, "rate", "%g", l->rate);
	record_set(r, "generator", "%s", ways[b->how]);
}

static int rounds_run(struct bench *b, unsigned rounds, struct record *r)
{
	static struct result result;
	int err = 0;

	for (unsigned i = 0; !err && i < rounds; i++) {
		if (isatty(STDERR_FILENO))
			fprintf(stderr, "\r\033[Kround %u of %u", i + 1, rounds);
		err = bench_round(b, &result, b->error) ?: trial_stop ? -EINTR : 0;
		if (!err)
			err = rounds_add(r->series, &result);
	}
	if (isatty(STDERR_FILENO))
		ab_progress_end();
	return err;
}

static int compare(const struct bench *b, const struct versus *v, const struct record *then,
		   const struct record *now, bool *worse)
{
	const struct look look = terminal_look();
	struct against g;
	struct json j;
	int err = against_compare(&g, then, now,
				  v->tolerance >= 0 ? v->tolerance : AGAINST_TOLERANCE, b->error);

	*worse = !err && g.worse;
	if (!err && json_wanted) {
		j = document_open(b);
		against_json(&j, &g);
		document_close(&j);
	} else if (!err) {
		against_table(stdout, &look, &g);
	}
	against_free(&g);
	return err;
}

/* Diagnoses what can be diagnosed before measuring anything. */
static int refuse_early(const struct versus *v, const struct record *now, struct record *then,
			struct error *e)
{
	int err = v->save ? record_can_write(v->save, e) : 0;

	if (!err && v->against)
		err = record_read(then, v->against, e) ?:
		      against_alike(then, now, e);
	return err;
}

static int baseline(struct bench *b, const struct versus *v)
{
	struct record now, then = {};
	bool worse = false;
	int err = record_start(&now, b->error);

	if (!err) {
		describe(b, &now);
		err = refuse_early(v, &now, &then, b->error) ?:
		      rounds_run(b, v->rounds ?: BASELINE_ROUNDS, &now);
	}
	if (!err && v->save)
		err = record_write(&now, v->save, b->error);
	if (!err && v->save && !json_wanted)
		printf("saved %u rounds of %s to %s\n", now.series->rounds, now.scenario,
		       v->save);
	if (!err && v->against)
		err = compare(b, v, &then, &now, &worse);
	record_free(&now);
	record_free(&then);
	if (err)
		return trial_stop ? EXIT_FAILURE : failed(b->error);
	return worse ? EXIT_FAILURE : EXIT_SUCCESS;
}

int versus_run(struct bench *b, const struct versus *v)
{
	b->starts = NULL;	/* progress is shown per round */
	return v->ab[0] ? ab(b, v) : baseline(b, v);
}
