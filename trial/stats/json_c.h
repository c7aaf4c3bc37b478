/* SPDX-License-Identifier: GPL-2.0 */
/* json-c, loaded when a baseline is read. */
#ifndef NICPROBE_JSON_C_H
#define NICPROBE_JSON_C_H

#include <json-c/json.h>

struct error;

#define JSON_C_FUNCTIONS(F)								\
	F(object_array_get_idx) F(object_array_length) F(object_get_double)		\
	F(object_get_int) F(object_get_int64) F(object_get_object)			\
	F(object_get_string) F(object_get_string_len) F(object_is_type)			\
	F(object_object_get_ex) F(object_put) F(tokener_error_desc) F(tokener_free)	\
	F(tokener_get_error) F(tokener_get_parse_end) F(tokener_new)			\
	F(tokener_parse_ex) F(tokener_set_flags) F(type_to_name)

/* The functions json_x as jc.x, after json_c_load(). */
struct json_c {
#define F(name) typeof(&json_##name) name;
	JSON_C_FUNCTIONS(F)
#undef F
};
extern struct json_c jc;

/* 0; -ENOENT and an error: it is not installed, or another version. */
int json_c_load(struct error *);

#endif
