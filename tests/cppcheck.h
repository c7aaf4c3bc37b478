/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Macros of libbpf, libxdp and libmnl for cppcheck, which gets no system headers and would not
 * parse them.
 */
#define LIBBPF_OPTS(type, name, ...) struct type name = { __VA_ARGS__ }
#define DECLARE_LIBXDP_OPTS(type, name, ...) struct type name = { __VA_ARGS__ }
#define bpf_object__for_each_program(p, o) while ((p = bpf_object__next_program(o, p)))
#define bpf_object__for_each_map(m, o) while ((m = bpf_object__next_map(o, m)))
#define mnl_attr_for_each(a, n, o) while ((a = next_attr(a, n, o)))
#define mnl_attr_for_each_nested(a, n) while ((a = next_attr(a, n, 0)))
