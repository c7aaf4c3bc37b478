/* SPDX-License-Identifier: GPL-2.0 */
/* What kind of file a descriptor is. */
#ifndef NICPROBE_FDPASS_KIND_BPF_H
#define NICPROBE_FDPASS_KIND_BPF_H

#include "bpf/common/descriptor.bpf.h"
#include "bpf/fdpass/fdpass.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct inode___mode {
	unsigned short i_mode;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct file___path {
	struct path f_path;
};

#pragma clang attribute pop

#define MODE_KIND	0170000		/* S_IFMT and its values: linux/stat.h */
#define MODE_FIFO	0010000
#define MODE_CHAR	0020000
#define MODE_DIRECTORY	0040000
#define MODE_BLOCK	0060000
#define MODE_REGULAR	0100000

#define ANON_INODE_FS_MAGIC 0x09041934	/* linux/magic.h */
#define DMA_BUF_MAGIC	0x444d4142
#define PID_FS_MAGIC	0x50494446
#define NSFS_MAGIC	0x6e736673
#define TMPFS_MAGIC	0x01021994
#define HUGETLBFS_MAGIC	0x958458f6

static __always_inline void fdpass_name(char *name, const struct file *file)
{
	const struct file___path *more = (const void *)file;
	const struct dentry *dentry = PLAIN(more, f_path.dentry);

	if (dentry)
		bpf_probe_read_kernel_str(name, FDPASS_NAME_SIZE, PLAIN(dentry, d_name.name));
}

/* memfd_create() names it so: a file in that file system may have the name, too. */
static __always_inline bool fdpass_is_memfd(const struct file *file)
{
	char name[FDPASS_NAME_SIZE] = {};

	fdpass_name(name, file);
	return name[0] == 'm' && name[1] == 'e' && name[2] == 'm' && name[3] == 'f' &&
	       name[4] == 'd' && name[5] == ':';
}

static __always_inline __u32 fdpass_by_mode(const struct inode *inode)
{
	const struct inode___mode *more = (const void *)inode;

	switch (PLAIN(more, i_mode) & MODE_KIND) {
	case MODE_FIFO:
		return FDPASS_PIPE;
	case MODE_CHAR:
	case MODE_BLOCK:
		return FDPASS_DEVICE;
	case MODE_DIRECTORY:
		return FDPASS_DIRECTORY;
	case MODE_REGULAR:
		return FDPASS_FILE;
	default:
		return FDPASS_OTHER;
	}
}

static __always_inline void fdpass_kind(struct fdpass_key *key, const struct file *file)
{
	const struct inode *inode = file ? PLAIN(file, f_inode) : NULL;
	const struct super_block *sb = inode ? PLAIN(inode, i_sb) : NULL;

	key->kind = FDPASS_OTHER;
	if (!sb)
		return;
	switch (PLAIN(sb, s_magic)) {
	case SOCKFS_MAGIC:
		key->kind = FDPASS_SOCKET;
		break;
	case ANON_INODE_FS_MAGIC:
		key->kind = FDPASS_ANON;
		fdpass_name(key->name, file);
		break;
	case DMA_BUF_MAGIC:
		key->kind = FDPASS_DMABUF;
		break;
	case PID_FS_MAGIC:
		key->kind = FDPASS_PIDFD;
		break;
	case NSFS_MAGIC:
		key->kind = FDPASS_NAMESPACE;
		break;
	case TMPFS_MAGIC:
	case HUGETLBFS_MAGIC:
		if (fdpass_is_memfd(file)) {
			key->kind = FDPASS_MEMFD;
			break;
		}
		/* fallthrough */
	default:
		key->kind = fdpass_by_mode(inode);
	}
}

#endif
