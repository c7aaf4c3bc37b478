#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Checks that clang-format 14 cannot do without undoing tab-aligned comments and tables: tabs, 100 columns, no trailing
# blanks, and a first line that describes the file; and that none is longer than 400 lines.
cd "$(dirname "$0")/.." || exit 1
files=$(git ls-files '*.c' '*.h' 2>/dev/null) || files=
[ -n "$files" ] || files=$(find cmd findings probes trial render lib xdp bpf drivers bench tests -name '*.[ch]')
nolicence=$(git ls-files 2>/dev/null | grep -v -e "^tests/golden/" -e "^bench/results/.*\.\(json\|svg\)$" -e "^LICENSE$" \
	-e "^debian/\(changelog\|copyright\|source/format\)$" -e "^docs/report\.png$" |
	xargs -r awk "FNR == 1 { if (NR > 1 && !has) print last; has = 0; last = FILENAME }
		FNR <= 5 && /SPDX-License-Identifier: GPL-2.0/ { has = 1 } END { if (!has) print last }")
if [ -n "$nolicence" ]; then
	echo "not ok style: no licence line in" $nolicence
	exit 1
fi
bad=$(LC_ALL=C awk '
	function say(why) { print FILENAME ":" FNR ": " why }
	FNR == 1 && !/^\/\* SPDX-License-Identifier: GPL-2.0 \*\/$/ { say("no licence line") }
	FNR == 2 && !/^\/\*/ { say("no sentence that describes the file") }
	/[ \t]$/ { say("space at the end of the line") }
	/^ +[^ *]/ && !/^ \*/ { say("indented by spaces") }
	{
		line = $0
		gsub(/[\200-\277]/, "", line)	# a character of UTF-8 is one column: only its first byte counts
		while (i = index(line, "\t"))
			line = substr(line, 1, i - 1) substr("        ", 1, 8 - (i - 1) % 8) substr(line, i + 1)
		if (length(line) > 100)
			say("longer than 100 columns: " length(line))
	}' $files)
if [ -n "$bad" ]; then
	echo "$bad"
	echo "not ok style: $(echo "$bad" | wc -l) lines, the first: $(echo "$bad" | head -n 1)"
	exit 1
fi
# A progress line that overwrites itself (\r) contains no foreign names.
raw=$(grep -n 'fprintf(stderr' cmd/*.c | grep -v '"\\r')
if [ -n "$raw" ]; then
	echo "not ok style: use tell(), which escapes names for the terminal: $raw"
	exit 1
fi
long=$(git ls-files '*.c' '*.h' '*.py' '*.sh' tests/run tests/vm/run 2>/dev/null |
	xargs -r awk 'FNR == 401 { print FILENAME }')
if [ -n "$long" ]; then
	echo "not ok style: more than 400 lines:" $long
	exit 1
fi
echo "ok style: tabs, 100 columns, 400 lines, a first line"
