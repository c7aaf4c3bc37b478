#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Include rules: a folder may include those to its right here, never those to its left. And every parser of foreign
# input, lines or netlink answers, is listed in tests/fuzz/readers: fuzzed, or with a reason.
cd "$(dirname "$0")/.." || exit 1
rooms="cmd report record top findings trial serve render drivers probes bpf xdp lib"
allowed="cmd: report record top findings trial serve render probes lib bpf/wifi/radio.h bpf/host/lines.h; report: record trial render lib; top: record findings render lib; record: findings render lib; findings: bpf xdp drivers lib; trial: render lib; serve: lib; render: probes lib; drivers: lib; probes: bpf lib; bpf: lib xdp/packet.bpf.h xdp/pktsize.h; xdp: lib; lib:"
bad=0
files=$(find $rooms -name '*.[ch]' | sort)
for file in $files; do
	from=${file%%/*}
	list=${allowed#*"$from":}
	list=" $from ${list%%;*} "
	for to in $(sed -n 's|^#include "\([^"]*\)".*|\1|p' "$file"); do
		case "$to" in
		*.skel.h | *.inc) continue ;;	# made while building
		*/*) ;;
		*) echo "not ok layers: $file: $to is not included by its path from the top"; bad=1; continue ;;
		esac
		case "$list" in
		*" ${to%%/*} "* | *" $to "*) ;;
		*) echo "not ok layers: $file must not include $to"; bad=1 ;;
		esac
	done
done
[ $bad = 0 ] && echo "ok layers: includes follow the order of folders, by paths from the top"

missing=0
for file in $(grep -lE '\<(mnl_attr_(get|for_each|parse)\w*|fgets|getline|getdelim|v?[fs]scanf)\(' \
		$(echo "$files" | grep '\.c$' | grep -v '\.bpf\.c$')); do
	grep -qE "^(no )?$file($|[[:space:]]+[a-z])" tests/fuzz/readers && continue
	echo "not ok layers: $file parses foreign input: not listed in tests/fuzz/readers"
	missing=1
done
for file in $(sed -nE 's/^(no )?([a-z]+\/[^[:space:]]*).*/\2/p' tests/fuzz/readers); do
	[ -e "$file" ] && continue
	echo "not ok layers: tests/fuzz/readers lists $file, which does not exist"
	missing=1
done
[ $missing = 0 ] && echo "ok layers: parsers of foreign input are fuzzed"

# lib/ knows no meter, hook, driver or format: their own tables tell it what it must know. The kernel's own words are
# exempt.
names=$(grep -ohE '\<[MHDR]\([a-z0-9_]+\)' lib/core/registry.h render/render.h | sed 's/.(//; s/)//' | grep -vx name)
either=$(echo $names | tr ' ' '|')
words=$(echo $names | tr ' ' '\n' | grep -vxE 'xdp|tc|qdisc|driver|loopback|devlink' | tr '\n' '|')
named=$(grep -nE "" $(find lib -name '*.[ch]' ! -path lib/core/registry.h) | sed 's|/\*.*||; /:[[:space:]]*\* /d' |
	grep -E "\<(METER|meter|hook|driver|renderer)_($either)\>|\"(${words%|})\"" | sed 's/^/not ok layers: lib\/ must not name it: /')
[ "$named" ] && echo "$named"
[ "$names" ] && [ -z "$named" ] && echo "ok layers: lib/ names no meter, hook, driver or format"

# One name, one thing: no two structs of one name, and no two files, except that what shows a subject (its command, its
# findings, its output) is named after it. The kernel's own structs are exempt.
twice=$(sed -nE 's/^(static )?(const )?struct (\w+) \{.*/\3/p' $(echo "$files" | grep -vx lib/core/kernel.bpf.h) |
	sort | uniq -d | sed 's/^/not ok layers: defined twice: struct /'
	for room in 'lib|bpf|xdp|probes|drivers|trial|serve' cmd findings render top report; do
		echo "$files" | grep -E "^($room)/" | sed 's|.*/||' | sort | uniq -d
	done | sed 's/^/not ok layers: two files are named /')
[ "$twice" ] && echo "$twice" || echo "ok layers: one name, one thing: structs and files"
[ "$bad$missing$named$twice" = 00 ]
