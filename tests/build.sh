#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Checks that the build is hardened, reproducible from another directory, and accepts the flags that distributions pass.
# usage: tests/build.sh [B [CC [CFLAGS]]], as it was built with
cd "$(dirname "$0")/.." || exit 1
B=${1:-build} CC=${2:-cc} CFLAGS=${3:--O2 -g}
there=$(mktemp -d)/somewhere-else
trap 'rm -rf "${there%/*}"' EXIT
failed=0

check() {	# NAME COMMAND…
	name=$1
	shift
	if "$@" >/dev/null 2>&1; then
		echo "ok build: $name"
	else
		echo "not ok build: $name"
		failed=1
	fi
}

has() { readelf -W "$1" "$B/nicprobe" | grep -q "$2"; }
check "position independent" has -h 'DYN'
check "relocations are read-only" has -l 'GNU_RELRO'
check "and done at once" has -d 'BIND_NOW\|FLAGS_1.*NOW'
check "stack protector" has --dyn-syms '__stack_chk_fail'
check "copies are checked" has --dyn-syms '__[a-z]*_chk@'

check "CPPFLAGS and LDFLAGS are taken" sh -c "make -Bn B=$there/none CPPFLAGS=-DMINE LDFLAGS=-Wl,-mine all |
	grep -c -e '-DMINE.* -c ' -e '-Wl,-mine -o' | grep -qv '^[01]\$'"
check "who sets _FORTIFY_SOURCE has the say" sh -c "! make -Bn B=$there/none CPPFLAGS=-D_FORTIFY_SOURCE=3 all |
	grep -q 'FORTIFY_SOURCE=2'"
mkdir -p "$there"
printf '#!/bin/sh\necho aarch64-linux-gnu\n' >"$there/cc"
chmod +x "$there/cc"
check "BPF programs are for the compiler's machine" sh -c "make -Bn B=$there/none CC=$there/cc all |
	grep -q 'D__TARGET_ARCH_arm64'"
rm "$there/cc"
# stable.bpf.c takes headers of that machine.
check "those that read registers compile for arm64" make -s B="$there/arm64" BPFARCH=arm64 CFLAGS=-Werror \
	"$there/arm64/skel/host_events.bpf.o" "$there/arm64/skel/lookup.bpf.o"

git ls-files -z 2>/dev/null | xargs -0 tar -c --ignore-failed-read 2>/dev/null | tar -x -C "$there"
[ -e "$there/Makefile" ] || { echo "skip build: the same elsewhere: no git clone to copy"; exit $failed; }
# Of the BPF programs a third, and of the rest a fifth, others each time; SAME=all: all, and the program.
objects=$(git ls-files '*.c' | grep -v '\.bpf\.c$' | sed "s|^|$B/|; s|c$|o|" | while read -r o; do
	[ ! -e "$o" ] || echo "$o"; done)
programs=$(cd "$B/skel" && ls -- *.bpf.o | sed "s|^|$B/skel/|")
some() { shuf -n $((1 + $(echo "$1" | wc -l) / $2)) <<-E
	$1
	E
}
if [ "${SAME:-}" = all ]; then
	objects="$objects $B/nicprobe"
else
	objects=$(some "$objects" 5) programs=$(some "$programs" 3)
fi
echo "# built elsewhere: $(echo $programs $objects | wc -w) of its parts"
# The other programs are as they are here: every object is made after them.
mkdir -p "$there/$B/skel"
cp "$B"/skel/*.bpf.o "$there/$B/skel" && cp "$B"/skel/*.skel.h "$there/$B/skel"
for p in $programs; do
	rm "$there/$p" "$there/${p%.bpf.o}.skel.h"
done
# shellcheck disable=SC2086
make -s -C "$there" B="$B" CC="$CC" CFLAGS="$CFLAGS" $programs $objects >/dev/null 2>&1
differs=
for o in $programs $objects; do
	cmp -s "$o" "$there/$o" || differs="$differs $o"
done
check "the same to the byte elsewhere${differs:+: not$differs}" [ -z "$differs" ]
check "and no word of where" sh -c "! grep -q '$PWD' '$B/nicprobe'"
exit $failed
