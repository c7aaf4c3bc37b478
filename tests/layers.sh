#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Who may include whom: a folder sees those that stand to its right here, never those to its left.
cd "$(dirname "$0")/.." || exit 1
allowed="cmd: findings trial render lib  findings: bpf xdp drivers lib  trial: lib  render: lib  drivers: lib  bpf: lib xdp/packet.bpf.h xdp/pktsize.h  xdp: lib  lib:"
bad=0
for file in cmd/*.[ch] findings/*.[ch] trial/*.[ch] render/*.[ch] drivers/*.[ch] bpf/*.[ch] xdp/*.[ch] lib/*.[ch]; do
	from=${file%%/*}
	list=${allowed#*"$from":}
	list=" ${list%%:*} "
	for to in $(sed -n 's|^#include "\.\./\([^"]*\)".*|\1|p' "$file"); do
		case "$list" in
		*" ${to%%/*} "* | *" $to "*) ;;
		*) echo "not ok layers: $file must not include $to"; bad=1 ;;
		esac
	done
done
[ $bad = 0 ] && echo "ok layers: includes go one way"
exit $bad
