# SPDX-License-Identifier: GPL-2.0
# Called by package.sh: over this root lies a layer in memory, and what is installed there ends with it.
dir=$1
if dpkg-query -Wf '${Status}' nicprobe 2>/dev/null | grep -q ' installed$'; then
	echo "skip package: install and purge: nicprobe is installed here"
	exit 0
fi
mount -t tmpfs none "$dir/over" && mkdir "$dir/over/upper" "$dir/over/work" "$dir/over/root" || exit 1
root=$dir/over/root
if ! mount -t overlay -o "lowerdir=/,upperdir=$dir/over/upper,workdir=$dir/over/work" none "$root" 2>"$dir/log"; then
	echo "skip package: this kernel lays nothing over a root: $(cat "$dir/log")"
	exit 0
fi
mount -t proc none "$root/proc"
mount -t sysfs none "$root/sys"
mount -t bpf none "$root/sys/fs/bpf"
mount --rbind /dev "$root/dev"
mkdir -p "$root/tmp" "$root/run"
mount -t tmpfs none "$root/tmp"
mount -t tmpfs none "$root/run"
cp "$dir"/nicprobe_*.deb "$dir/attach" "$dir/package_in_root.sh" "$root/tmp"
chroot "$root" sh /tmp/package_in_root.sh

# What differs in the layer is left, but for what dpkg, apt, ldconfig and userdel keep for themselves.
cd "$dir/over/upper" || exit 1
find . \( -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log -o -path ./etc/ld.so.cache -o \
	-path './etc/*-' \) -prune -o -print | while read -r file; do
	if [ -c "$file" ]; then
		echo "$file is gone"
	elif [ -L "$file" ]; then
		[ "$(readlink "$file")" = "$(readlink "/$file")" ] || echo "$file"
	elif [ -d "$file" ]; then
		[ -d "/$file" ] || echo "$file"
	else
		cmp -s "$file" "/$file" || echo "$file"
	fi
done >"$dir/log"
[ -s "$dir/log" ] && echo "not ok package: something is left: $(tr '\n' ' ' <"$dir/log")" || echo "ok package: nothing is left"
