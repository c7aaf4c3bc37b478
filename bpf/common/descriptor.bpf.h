/* SPDX-License-Identifier: GPL-2.0 */
/* From a file descriptor of the current task to its file and socket. */
#ifndef NICPROBE_DESCRIPTOR_BPF_H
#define NICPROBE_DESCRIPTOR_BPF_H

#include "lib/core/kernel.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct super_block {
	unsigned long s_magic;
};

struct inode {
	struct super_block *i_sb;
};

struct file {
	struct inode *f_inode;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct socket {
	struct sock *sk;
};

#pragma clang attribute pop

#define SOCKFS_MAGIC	0x534f434b

/* The pointer at an address. A load without a helper needs a type that begins with a pointer. */
static __always_inline const void *pointer_at(const void *at)
{
	const struct hlist_head *head = at;

	return PLAIN(head, first);
}

/* The file that is this descriptor of the current task; NULL: there is none. */
static __always_inline const struct file *file_of(__s32 fd)
{
	const struct task_struct *task = (void *)bpf_get_current_task();
	const struct files_struct *files = PLAIN(task, files);
	const struct fdtable *table = files ? PLAIN(files, fdt) : NULL;

	if (!table || fd < 0 || (__u32)fd >= PLAIN(table, max_fds))
		return NULL;
	return pointer_at(PLAIN(table, fd) + fd);
}

/* NULL: the file is no socket. */
static __always_inline const struct sock *socket_of_file(const struct file *file)
{
	const struct inode *inode = PLAIN(file, f_inode);
	const struct super_block *sb = inode ? PLAIN(inode, i_sb) : NULL;
	const struct socket *socket;

	if (!sb || PLAIN(sb, s_magic) != SOCKFS_MAGIC)
		return NULL;
	socket = PLAIN(file, private_data);
	return socket ? PLAIN(socket, sk) : NULL;
}

/* The socket that is this descriptor of the current task; NULL: it is none. */
static __always_inline const struct sock *socket_of(__s32 fd)
{
	const struct file *file = file_of(fd);

	return file ? socket_of_file(file) : NULL;
}

#endif
