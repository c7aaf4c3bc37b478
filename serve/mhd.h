/* SPDX-License-Identifier: GPL-2.0 */
/* libmicrohttpd, loaded when it is needed: its libraries of TLS double the start of a command. */
#ifndef NICPROBE_SERVE_MHD_H
#define NICPROBE_SERVE_MHD_H

#include <microhttpd.h>

struct error;

#define MHD_FUNCTIONS(F)								\
	F(add_response_header) F(create_response_from_buffer) F(destroy_response)	\
	F(get_daemon_info) F(get_timeout) F(lookup_connection_value) F(queue_response)	\
	F(quiesce_daemon) F(run) F(start_daemon) F(stop_daemon)

/* The functions MHD_x as mhd.x, after mhd_load(). */
struct mhd {
#define F(name) typeof(&MHD_##name) name;
	MHD_FUNCTIONS(F)
#undef F
};
extern struct mhd mhd;

/* 0; -ENOENT and an error: it is not installed, or another version. */
int mhd_load(struct error *);

#endif
