#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Compares what the renderers print with what they printed when it was last looked at.
#
# RENDER_TEST=… is tests/unit/render_test.c, built. UPDATE=1: what it prints now is right;
# read the diff before you commit it.
here=$(cd "$(dirname "$0")" && pwd)
test=${RENDER_TEST:-build/tests/unit/render_test}
now=$(mktemp) tables=$(mktemp -d) || exit 1
trap 'rm -rf "$now" "$tables"' EXIT
bad=0

not_ok() {
	echo "not ok $1: $2"
	bad=1
}

# golden FILE ARGUMENT…
golden() {
	file=$here/$1
	name=golden/$1
	shift
	if ! "$test" "$@" > "$now" 2>&1; then
		not_ok "$name" "render_test: $(tail -n 1 "$now")"
	elif [ -n "$UPDATE" ]; then
		cat "$now" > "$file" && echo "ok $name # updated"
	elif ! why=$(diff -u "$file" "$now" 2>&1); then
		not_ok "$name" "it differs; UPDATE=1 if that is right"
		printf '%s\n' "$why" | sed 's/^/# /'
	else
		echo "ok $name"
	fi
}

# check NAME COMMAND…: reads what was printed; its last line says why not.
check() {
	name=$1
	shift
	if why=$("$@" < "$now" 2>&1); then
		echo "ok $name"
	else
		not_ok "$name" "$(printf '%s\n' "$why" | tail -n 1)"
	fi
}

skip() {
	echo "skip $1: $2"
}

for width in 40 60 80 120 200; do
	golden busy.$width.txt table busy $width
done
golden busy.80.colour.txt table busy 80 colour
golden busy.80.ascii.txt table busy 80 ascii
for case in idle interval many odd; do
	golden $case.80.txt table $case 80
done
golden odd.40.txt table odd 40
golden second.80.txt table second 80
golden second.brief.txt table second 80 brief
golden interval.brief.txt table interval 80 brief
golden clocks.80.txt table clocks 80
golden clocks.brief.txt table clocks 80 brief
for rate in "2000 packets/s, 200.0 kB/s" "not-ect 225, ect0 25, ce 10" \
	"rxcpu       500 packets/s, 50.00 kB/s" "count/s 133.3k"; do
	check "rates of a meter's own seconds: $rate" grep -qF "$rate" "$now"
done
golden brief.80.txt table busy 80 brief
golden brief.40.txt table many 40 brief
golden brief.many.txt table many 120 brief
golden brief.account.txt table account 80 brief
golden queues.80.txt table many 80 queues
for width in 40 80 120; do
	golden card.$width.txt table card $width
done
golden both.80.txt table both 80
golden card.om openmetrics card
golden account.80.txt table account 80
for width in 40 80 120; do
	golden named.$width.txt table named $width
done
for width in 24 40 60; do
	golden vectors.$width.txt table vectors $width
done
golden thinned.80.txt table thinned 80
golden thinned.brief.txt table thinned 80 brief
golden thinned.om openmetrics thinned
golden paused.80.txt table paused 80
golden paused.brief.txt table paused 80 brief
golden named.json json named
check json/named python3 "$here/check.py" json
golden named.om openmetrics named
for case in busy idle interval clocks thinned paused many odd card both; do
	golden $case.json json $case
	check json/$case python3 "$here/check.py" json
done
golden busy+odd.om openmetrics busy+odd
golden busy+odd.prom prometheus busy+odd 80 source
golden named.queues.prom prometheus named 80 queues own
golden idle.om openmetrics idle

# The views of top, as the unit test makes them: its moments and keys.
views=${TOP_TEST:-build/tests/unit/top_test}
view() {
	test=$views golden "$@"
}
for size in "40 10" "80 24" "120 40" "300 100"; do
	set -- $size
	view top.overview.$1.txt $1 $2 30 4 utf8 ""
	view top.interface.$1.txt $1 $2 30 4 utf8 jE
	view top.queue.$1.txt $1 $2 100 4 utf8 jETTE
	view top.meter.$1.txt $1 $2 100 4 utf8 jETTTTE
done
view top.many.80.txt 80 24 30 64 utf8 jETT
view top.interface.ascii.txt 80 60 30 4 ascii jE
view top.queue.ascii.txt 80 60 100 4 ascii jETTE
view top.keys.txt 80 24 3 4 utf8 "?"

# What a Prometheus of 100 hosts can bear of an interface of 64 queues: measured whole it was 9739.
"$test" openmetrics wide > "$now"
series=$(grep -c '^nicprobe_' "$now")
if [ "$series" -lt 1500 ] && [ "$series" -gt 300 ]; then
	echo "ok openmetrics/wide: $series series"
else
	not_ok openmetrics/wide "$series series"
fi

for case in busy idle interval many odd card both account named vectors; do
	for width in 24 33 40 47 60 72 80 99 120 160 200; do
		for glyphs in '' ascii brief; do
			"$test" table $case $width $glyphs > "$tables/$case.$width${glyphs:+.$glyphs}"
		done
	done
done
python3 "$here/check.py" tables "$tables"/* || bad=1

for python in python3 /usr/bin/python3; do
	$python -c 'import prometheus_client' 2> /dev/null && break
	python=
done
for case in busy idle many odd busy+odd+many named card both card+busy wide; do
	"$test" openmetrics $case > "$now"
	if [ -n "$python" ]; then
		check openmetrics/$case "$python" "$here/check.py" openmetrics
	else
		skip openmetrics/$case "no prometheus_client (python3-prometheus-client)"
	fi
	"$test" prometheus $case > "$now"
	if command -v promtool > /dev/null; then
		check promtool/$case promtool check metrics
	else
		skip promtool/$case "no promtool (prometheus)"
	fi
done
exit $bad
