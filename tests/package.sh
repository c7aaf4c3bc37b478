#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The Debian package: lintian finds nothing wrong; in a copy of this root it is installed, used, removed and purged,
# and nothing is left; its units are what they should be. PACKAGE=long: built from the source in a root that has what
# debian/control asks for and nothing else, and its units run under a systemd that boots there.
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
result() {	# NAME STATUS FILE: its end says why not
	[ "$2" = 0 ] && echo "ok package: $1" || echo "not ok package: $1: $(tail -n 12 "$3" | tr '\n' ' ')"
}

for tool in dpkg-buildpackage dh lintian; do
	command -v $tool >/dev/null || { echo "skip package: $tool is not installed"; exit 0; }
done
[ "$(id -u)" = 0 ] || { echo "skip package: needs root"; exit 0; }

# With what is built already: another compiler's flags are no other package.
BUILT=$B DESTINATION=$dir DEB_BUILD_OPTIONS="nocheck noautodbgsym" debian/rules clean binary >"$dir/log" 2>&1
result "it is built" $? "$dir/log"
debian/rules clean >/dev/null 2>&1
deb=$(echo "$dir"/nicprobe_*.deb)
[ -e "$deb" ] || exit 1
lintian --allow-root --fail-on error,warning "$deb" >"$dir/log" 2>&1
result "lintian finds no error and no warning" $? "$dir/log"
version=$("$B/nicprobe" --version)
[ "$version" = "nicprobe $(dpkg-deb -f "$deb" Version)" ]
result "its version is the program's" $? "$dir/log"

command -v systemd-analyze >/dev/null || echo "skip package: exposure: there is no systemd-analyze"
for unit in attach@ record@ serve; do
	command -v systemd-analyze >/dev/null || continue
	systemd-analyze security --offline=true --threshold=30 "systemd/nicprobe-$unit.service" >"$dir/log" 2>&1
	result "the exposure of nicprobe-$unit.service is below 3" $? "$dir/log"
	[ "$(systemd-analyze --version | sed -n 's/^systemd \([0-9]*\).*/\1/p')" = 252 ] || continue
	said=$(sed -n 's/.*exposure level for .*: \([0-9.]*\) .*/\1/p' "$dir/log")
	grep -q "^.It nicprobe-$unit Ta .* Ta $said\$" man/nicprobe-units.7
	result "nicprobe-units(7) tells it: $said" $? "$dir/log"
done

# All that follows is in mount and network namespaces of its own.
cp debian/tests/attach tests/package_in_root.sh "$dir"
mkdir "$dir/over"
unshare -mn sh tests/package_over.sh "$dir" 2>&1
[ "${PACKAGE:-}" != long ] || sh tests/package_long.sh "$dir"
