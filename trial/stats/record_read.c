/* SPDX-License-Identifier: GPL-2.0 */
/* Reads a saved trial and validates everything in it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "lib/util/log.h"
#include "lib/util/slurp.h"
#include "trial/stats/json_c.h"
#include "trial/stats/record.h"

#define SIZE_MAX_READ (16 << 20)	/* bytes: twice the size of all rounds of all figures */

/* The file being read, for error messages. */
struct reader {
	const char *path;
	struct record *r;
	struct error *error;
};

static int broken(const struct reader *rd, const char *why)
{
	return error_set(rd->error, -EBADMSG, "save it again: nicprobe bench … --save FILE",
			 "%s is not a valid baseline: %s", rd->path, why);
}

static int unreadable(const struct reader *rd, int err)
{
	return error_set(rd->error, -err, NULL, "cannot read the baseline %s: %s", rd->path,
			 strerror(err));
}

static int bytes_read(const struct reader *rd, char **bytes, size_t *size)
{
	int fd = open(rd->path, O_RDONLY | O_CLOEXEC), err = fd < 0 ? -errno : 0;

	if (!err) {
		*bytes = slurp(fd, SIZE_MAX_READ, size, &err);
		close(fd);
	}
	if (err == -EFBIG)
		return broken(rd, "it is too large");
	return err ? unreadable(rd, -err) : 0;
}

/* A member of this type; NULL with an error message if it is missing or has another type. */
static json_object *member(const struct reader *rd, json_object *in, const char *key,
			   enum json_type type)
{
	json_object *o;

	if (jc.object_object_get_ex(in, key, &o) && jc.object_is_type(o, type))
		return o;
	broken(rd, text("\"%s\" is missing, or not %s %s", key, strchr("aeiou",
	       *jc.type_to_name(type)) ? "an" : "a", jc.type_to_name(type)));
	return NULL;
}

static int string_get(const struct reader *rd, json_object *in, const char *key, char *to,
		      size_t size)
{
	json_object *o = member(rd, in, key, json_type_string);
	const char *s = o ? jc.object_get_string(o) : NULL;

	if (!s)
		return -EBADMSG;
	/* the second check: no zero byte in the middle */
	if (strlen(s) >= size || strlen(s) != (size_t)jc.object_get_string_len(o))
		return broken(rd, text("\"%s\" is too long", key));
	strcpy(to, s);
	return 0;
}

static int version_check(const struct reader *rd, json_object *top)
{
	json_object *o;
	int64_t version;

	if (!jc.object_is_type(top, json_type_object) ||
	    !jc.object_object_get_ex(top, "nicprobe_baseline", &o) ||
	    !jc.object_is_type(o, json_type_int))
		return broken(rd, "it has no \"nicprobe_baseline\"");
	version = jc.object_get_int64(o);
	if (version != RECORD_VERSION)
		return error_set(rd->error, -EBADMSG, "save it again with this nicprobe",
				 "cannot read the baseline %s: it is version %lld, not %d",
				 rd->path, (long long)version, RECORD_VERSION);
	return 0;
}

static int settings_get(const struct reader *rd, json_object *top)
{
	json_object *options = member(rd, top, "options", json_type_object);
	struct lh_entry *option;

	if (!options)
		return -EBADMSG;
	lh_foreach(jc.object_get_object(options), option) {
		struct setting *s = &rd->r->settings[rd->r->nr_settings];
		const char *name = lh_entry_k(option);

		if (rd->r->nr_settings == SETTINGS_MAX || strlen(name) >= sizeof(s->name))
			return broken(rd, "it has too many or too long options");
		strcpy(s->name, name);
		if (string_get(rd, options, name, s->value, sizeof(s->value)))
			return -EBADMSG;
		rd->r->nr_settings++;
	}
	return 0;
}

static int values_get(const struct reader *rd, json_object *of, double *values)
{
	json_object *list = member(rd, of, "values", json_type_array);

	if (!list)
		return -EBADMSG;
	if (jc.object_array_length(list) != rd->r->series->rounds)
		return broken(rd, "a figure does not have a value for every round");
	for (unsigned i = 0; i < rd->r->series->rounds; i++) {
		json_object *o = jc.object_array_get_idx(list, i);

		if (o && !jc.object_is_type(o, json_type_double) &&
		    !jc.object_is_type(o, json_type_int))
			return broken(rd, "a value is not a number");
		values[i] = o ? jc.object_get_double(o) : NAN;
		if (o && !isfinite(values[i]))	/* json-c accepts NaN and Infinity */
			return broken(rd, "a value is not finite");
	}
	return 0;
}

static int figure_get(const struct reader *rd, json_object *of)
{
	struct rounds *s = rd->r->series;
	struct bench_figure f = { .value = NAN };
	json_object *better;
	int at;

	if (s->nr == FIGURES_MAX)
		return broken(rd, "it has too many figures");
	if (!jc.object_is_type(of, json_type_object))
		return broken(rd, "a figure is not an object");
	f.unit = rd->r->units[s->nr];
	better = member(rd, of, "better", json_type_int);
	if (!better || string_get(rd, of, "name", f.name, sizeof(f.name)) ||
	    string_get(rd, of, "unit", rd->r->units[s->nr], sizeof(rd->r->units[0])))
		return -EBADMSG;
	f.better = jc.object_get_int(better);
	if (f.better < -1 || f.better > 1)
		return broken(rd, "\"better\" is not 1, 0 or -1");
	if (rounds_find(s, f.name) >= 0)
		return broken(rd, "a figure is duplicate");
	at = rounds_know(s, &f);
	return at < 0 ? -EBADMSG : values_get(rd, of, s->values[at]);
}

static int figures_get(const struct reader *rd, json_object *top)
{
	json_object *list = member(rd, top, "figures", json_type_array);
	json_object *rounds = list ? member(rd, top, "rounds", json_type_int) : NULL;
	int err = 0;

	if (!rounds)
		return -EBADMSG;
	if (jc.object_get_int64(rounds) < 1 || jc.object_get_int64(rounds) > ROUNDS_MAX)
		return broken(rd, text("\"rounds\" is not between 1 and %d", ROUNDS_MAX));
	rd->r->series->rounds = jc.object_get_int64(rounds);
	for (size_t i = 0; !err && i < jc.object_array_length(list); i++)
		err = figure_get(rd, jc.object_array_get_idx(list, i));
	return err ?: rd->r->series->nr ? err : broken(rd, "it has no figures");
}

static int document_get(const struct reader *rd, json_object *top)
{
	struct record *r = rd->r;
	json_object *cpus;

	if (version_check(rd, top) ||
	    string_get(rd, top, "saved", r->saved, sizeof(r->saved)) ||
	    string_get(rd, top, "host", r->host, sizeof(r->host)) ||
	    string_get(rd, top, "machine", r->machine, sizeof(r->machine)) ||
	    string_get(rd, top, "cpu", r->cpu, sizeof(r->cpu)) ||
	    string_get(rd, top, "kernel", r->kernel, sizeof(r->kernel)) ||
	    string_get(rd, top, "interface", r->iface, sizeof(r->iface)) ||
	    string_get(rd, top, "driver", r->driver, sizeof(r->driver)) ||
	    string_get(rd, top, "scenario", r->scenario, sizeof(r->scenario)) ||
	    settings_get(rd, top))
		return -EBADMSG;
	cpus = member(rd, top, "cpus", json_type_int);
	if (!cpus)
		return -EBADMSG;
	r->cpus = jc.object_get_int(cpus);
	return figures_get(rd, top);
}

int record_read(struct record *r, const char *path, struct error *e)
{
	struct reader rd = { .path = path, .r = r, .error = e };
	struct json_tokener *tokener = NULL;
	json_object *top = NULL;
	char *bytes = NULL;
	size_t size = 0;
	int err;

	*r = (struct record){ .series = rounds_new() };
	err = json_c_load(e);
	if (err)
		return err;
	tokener = jc.tokener_new();
	err = r->series && tokener ? bytes_read(&rd, &bytes, &size) : unreadable(&rd, ENOMEM);
	if (err)
		goto out;
	jc.tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	top = jc.tokener_parse_ex(tokener, bytes, size);
	if (!top)
		err = broken(&rd, jc.tokener_get_error(tokener) == json_tokener_continue ?
			     "it is truncated" : text("at byte %zu: %s",
			     jc.tokener_get_parse_end(tokener),
			     jc.tokener_error_desc(jc.tokener_get_error(tokener))));
	else
		err = document_get(&rd, top);
out:
	jc.object_put(top);
	if (tokener)
		jc.tokener_free(tokener);
	free(bytes);
	return err;
}
