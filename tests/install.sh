#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# make uninstall removes everything that make install created; and the installed program runs.
cd "$(dirname "$0")/.." || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
make -s install DESTDIR="$dir" PREFIX=/usr >/dev/null || { echo "not ok install"; exit 1; }
"$dir/usr/sbin/nicprobe" --version | grep -q '^nicprobe ' ||
	{ echo "not ok install: the program is not there"; exit 1; }
pages=0
for page in man/*; do
	name=${page##*/}
	cmp -s "$page" "$dir/usr/share/man/man${name##*.}/$name" || { echo "not ok install: no $name"; exit 1; }
	pages=$((pages + 1))
done
[ "$pages" -ge 6 ] || { echo "not ok install: only $pages man pages"; exit 1; }
echo "ok install"
make -s uninstall DESTDIR="$dir" PREFIX=/usr
left=$(find "$dir" -type f)
[ -z "$left" ] && echo "ok uninstall" || { echo "not ok uninstall: $left is left"; exit 1; }
