/* SPDX-License-Identifier: GPL-2.0 */
/* Where the state lives: /sys/fs/bpf/nicprobe/NETNS-INODE/INTERFACE/, and nowhere else. */
#ifndef NICPROBE_PINS_H
#define NICPROBE_PINS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/core/meta.h"

struct error;

#define PINS_ROOT "/sys/fs/bpf/nicprobe"

/*
 * Makes the root if need be (and mounts the BPF file system), and locks it:
 * exclusively to change, shared to read. Returns a descriptor for
 * pins_unlock(), or -errno and an error. -ENOENT without one: to read only,
 * and there is nothing.
 */
int pins_lock(bool exclusive, struct error *);
void pins_unlock(int lock);

/* The directory of an interface. bpffs forbids dots in names: they become colons. */
void pins_dir(char *dir, size_t size, __u32 netns, const char *iface);

/*
 * What the pin "meta" in `dir` says. 0; -ENOENT: nothing is there; -ENODATA:
 * an attach that was cut short; -EPROTO and an error: pins of another
 * version, or not ours; else -errno and an error: it cannot be read.
 */
int meta_read(const char *dir, struct meta *, struct error *);
int meta_write(const char *dir, const struct meta *, struct error *);
int meta_update(const char *dir, const struct meta *, struct error *);	/* that is there */

/* Removes one pin, if it is there; a link that it held has ended when this returns. */
void pin_remove(const char *path);

/* Removes all pins of a directory, and it. 0 or -errno. */
int pins_remove(const char *dir, struct error *);

/* The last to do before unlocking, when something changed: removes what directories are empty. */
void pins_tidy(void);

/* Calls `fn` for each directory of pins, until it returns other than 0; returns that. */
int pins_each(int (*fn)(const char *dir, __u32 netns, const char *iface, void *arg), void *arg);

/* The directory of what is attached to interface `ifindex` of a namespace, under whatever name. */
bool pins_find(__u32 netns, unsigned ifindex, char *dir, size_t size);

/* Its interface was deleted, whatever has its index now: our links are cut off from it. */
bool pins_dead(const char *dir);

/* That is so, or what has its index now has this inode (iface.h; 0: not known), and it had not. */
bool pins_of_other(const char *dir, const struct meta *, __u64 inode);

/* Opens the pin of a map to read it, for which its file need not be writable. -1 and errno. */
int pin_read(const char *path);

/* What sort of object a descriptor is: 'm'ap, 'p'rogram, 'l'ink, or 0. */
char bpf_fd_type(int fd);

#endif
