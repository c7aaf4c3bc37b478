#!/bin/sh
# Fuzzes the packet taps and meters for FUZZ_SECONDS (10). What fails is left in $B/fuzz, to be
# run again: build/fuzz/packet build/fuzz/crash-…
cd "$(dirname "$0")/../.." || exit 1
to=${B:-build}/fuzz
seconds=${FUZZ_SECONDS:-10}
clang=${CLANG:-clang}
flags="-g -O1 -std=gnu11 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined"
# headers lie anywhere: BPF does not mind
flags="$flags -fno-sanitize=alignment -fno-sanitize-recover=all"
warn="-Wall -Wextra -Werror -Wno-unused-parameter -Wno-unknown-attributes"
# maps of one name are one map, as pins make them; each program brings its licence
flags="$flags -fcommon -D_license=__attribute__((weak))_license"
taps="xdp/rx.bpf.c bpf/tc.bpf.c bpf/driver_rx.bpf.c bpf/stack_rx.bpf.c bpf/xmit.bpf.c"
mkdir -p "$to"

# shellcheck disable=SC2086
echo 'int LLVMFuzzerTestOneInput(const char *b, long n) { return b && n < 0; }' >"$to/probe.c"
if ! why=$($clang $flags -o "$to/probe" "$to/probe.c" 2>&1); then
	case $why in
	*"not found"* | *"cannot find"* | *"No such file"*)
		echo "skip fuzz packet: clang has no fuzzer here (Debian 12: libclang-rt-14-dev)"
		exit 0 ;;
	esac
	echo "not ok fuzz packet: $why" | head -n 1
	exit 1
fi
if ! $clang $flags $warn -Itests/fuzz/stub -o "$to/packet" $taps \
	tests/fuzz/packet.c tests/fuzz/compare.c tests/fuzz/kernel.c tests/fuzz/oracle.c 2>"$to/log"; then
	cat "$to/log" >&2
	echo "not ok fuzz packet: it does not build"
	exit 1
fi
python3 tests/fuzz/seeds.py "$to/seeds" || exit 1
mkdir -p "$to/corpus"
if "$to/packet" -max_total_time="$seconds" -timeout=10 -max_len=256 -print_final_stats=1 \
	-artifact_prefix="$to/" "$to/corpus" "$to/seeds" >"$to/log" 2>&1; then
	echo "ok fuzz packet: $(sed -n 's/^stat::number_of_executed_units: *//p' "$to/log") runs"
	exit 0
fi
# our own word for it, else the sanitizer's
why=$(grep -m 1 -E '^mismatch|ERROR: (Address|Undefined)|runtime error|ERROR: libFuzzer' "$to/log")
echo "not ok fuzz packet: $why; $(sed -n 's/.*Test unit written to //p' "$to/log"), log: $to/log"
exit 1
