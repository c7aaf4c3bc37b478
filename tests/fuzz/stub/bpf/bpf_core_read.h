/* SPDX-License-Identifier: GPL-2.0 */
/* Stub of <bpf/bpf_core_read.h>: structures are those of kernel.bpf.h. */
#ifndef __BPF_CORE_READ_H__
#define __BPF_CORE_READ_H__

#define __builtin_preserve_access_index(x)	(x)
#define bpf_core_field_exists(field)		0	/* as on kernels up to 6.1 */
#define bpf_core_field_offset(type, field)	offsetof(type, field)

#define STUB_1(p, a)		((p)->a)
#define STUB_2(p, a, b)		((p)->a->b)
#define STUB_(p, a, b, n, ...)	STUB_##n
#define BPF_CORE_READ(...)	STUB_(__VA_ARGS__, 2, 1)(__VA_ARGS__)
#define BPF_CORE_READ_BITFIELD(p, field) ((p)->field)
#define BPF_CORE_READ_BITFIELD_PROBED(p, field) ((p)->field)

#define bpf_core_type_exists(type) 1
#define bpf_core_enum_value_exists(type, value) 0	/* as on kernels up to 6.1 */
#define bpf_core_type_id_kernel(type) 0
#define bpf_core_type_size(type) sizeof(type)

#endif
