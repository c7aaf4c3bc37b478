/* SPDX-License-Identifier: GPL-2.0 */
/* One BPF object, from bytes to pinned links. */
#ifndef NICPROBE_OBJECT_H
#define NICPROBE_OBJECT_H

#include "lib/core/event.h"
#include "lib/core/hook.h"

/*
 * Opens and configures an object, and chooses its attach methods; does not load it. NULL:
 * site->error says why.
 */
struct bpf_object *object_open(const struct site *, const void *(*elf)(size_t *));

/*
 * The same for the programs and maps of the shared object that these users need. `left` is that of
 * kernel_choose().
 */
struct left_out;
struct bpf_object *object_open_shared(const struct site *, const struct users *,
				      struct left_out *);

/* Closes an object of these functions, loaded or not. NULL: nothing. */
void object_close(struct bpf_object *);

/* Is a program wanted by the users in this `struct wanting`? */
struct wanting {
	const struct users *users;
	const struct config *config;	/* of the interface */
};
bool users_want(const char *program, const void *wanting);

/*
 * The same object for programs without an interface, that only pass events on (lib/core/host.h):
 * those of `which`, 1 << SHARED_x. NULL: the error says why.
 */
struct bpf_object *object_open_host(__u64 which, struct error *);

/* Attaches a program, to the root cgroup if it follows sockets. NULL and errno. */
struct bpf_link *program_link(const struct bpf_program *);

/* Attaches a program. Its link is pinned at `path`, and only the pin holds it. 0 or -errno. */
int program_hold(const struct bpf_program *, const char *path);

/* Attaches programs, and pins their links as set_pin() names them. 0, or -errno and no pin. */
int object_attach_set(const struct site *, struct bpf_object *, unsigned set);

/* Removes these pins. */
void object_unpin_set(const struct site *, struct bpf_object *, unsigned set);

/* The name of a program's pin: "PROGRAM" in set 0, else "PROGRAM-SET"; as text(). */
const char *set_pin(const char *program, unsigned set);

/* Is this a map that several objects or meters share? */
bool map_is_common(const char *name);

#endif
