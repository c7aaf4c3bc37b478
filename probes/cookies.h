/* SPDX-License-Identifier: GPL-2.0 */
/* Cookies of sockets, by which events of one socket are told from those of others. */
#ifndef NICPROBE_PROBES_COOKIES_H
#define NICPROBE_PROBES_COOKIES_H

/*
 * Has the kernel give a cookie to each TCP and UDP socket of this namespace that has none: listing
 * them does that (sock_diag_save_cookie()). Where they cannot be listed, they have none.
 */
void cookies_make(void);

#endif
