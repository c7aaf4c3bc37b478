/* SPDX-License-Identifier: GPL-2.0 */
/* All state lives in /sys/fs/bpf/nicprobe/NETNS-INODE/INTERFACE/. */
#ifndef NICPROBE_PINS_H
#define NICPROBE_PINS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/core/meta.h"

struct error;

#define PINS_ROOT "/sys/fs/bpf/nicprobe"
#define SHARED_DIR "shared-"	/* below it, and a number: who agrees on struct host */

/*
 * Makes the root if need be (and mounts the BPF file system), and locks it:
 * exclusively to change, shared to read. Returns a descriptor for
 * pins_unlock(), or -errno and an error. -ENOENT without an error: the lock
 * was to be shared, and there is no root.
 */
int pins_lock(bool exclusive, struct error *);
void pins_unlock(int lock);

/* The directory of an interface. bpffs forbids dots in names: they become colons. */
void pins_dir(char *dir, size_t size, __u32 netns, const char *iface);

/*
 * Reads the pin "meta" in `dir`. 0; -ENOENT: there is no such directory;
 * -ENODATA: an attach was cut short; -EPROTO and an error: the pins are of
 * another version, or not ours; else -errno and an error: it cannot be read.
 */
int meta_read(const char *dir, struct meta *, struct error *);
int meta_write(const char *dir, const struct meta *, struct error *);
int meta_update(const char *dir, const struct meta *, struct error *);	/* an existing one */

/* Removes one pin, if it is there; a link that it held has ended when this returns. */
void pin_remove(const char *path);

/* Removes a directory and all its pins. 0 or -errno. */
int pins_remove(const char *dir, struct error *);

/*
 * Removes empty directories, and what interfaces share if none is left: the last step of a change
 * before unlocking.
 */
void pins_tidy(void);

/* Calls `fn` for each directory of pins, until it returns other than 0; returns that. */
int pins_each(int (*fn)(const char *dir, __u32 netns, const char *iface, void *arg), void *arg);

/* Finds the directory of pins of an interface, under whatever name it was attached. */
bool pins_find(__u32 netns, unsigned ifindex, char *dir, size_t size);

/* Was the interface deleted, and has its index another one, of this inode (iface.h; 0: unknown)? */
bool pins_of_other(const char *dir, const struct meta *, __u64 inode);

/* The type of a BPF descriptor: 'm'ap, 'p'rogram, 'l'ink, or 0. */
char bpf_fd_type(int fd);

#endif
