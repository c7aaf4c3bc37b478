#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# make uninstall removes everything that make install created; and the installed program runs.
cd "$(dirname "$0")/.." || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
make -s install DESTDIR="$dir" PREFIX=/usr >/dev/null || { echo "not ok install"; exit 1; }
"$dir/usr/sbin/nicprobe" --version | grep -q '^nicprobe ' && [ -s "$dir/usr/share/man/man8/nicprobe.8" ] &&
	[ -s "$dir/usr/share/man/man7/nicprobe-findings.7" ] ||
	{ echo "not ok install: not all is there"; exit 1; }
echo "ok install"
make -s uninstall DESTDIR="$dir" PREFIX=/usr
left=$(find "$dir" -type f)
[ -z "$left" ] && echo "ok uninstall" || { echo "not ok uninstall: $left is left"; exit 1; }
