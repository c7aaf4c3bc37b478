/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers of tcx, of include/uapi/linux/bpf.h since 6.6: newer than the headers of Debian 12. */
#ifndef NICPROBE_TCX_H
#define NICPROBE_TCX_H

#define TCX_INGRESS	46	/* BPF_TCX_INGRESS */
#define TCX_EGRESS	47	/* BPF_TCX_EGRESS */
#define TCX_BEFORE	(1u << 3)	/* BPF_F_BEFORE: with no other program named, before all */

#endif
