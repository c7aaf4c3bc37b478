#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Fuzzes each target, or those given, for FUZZ seconds (10), two at a time: packet hooks and meters against an oracle,
# and every parser of foreign input. Failing inputs stay in $B/fuzz, to be run again: build/fuzz/module
# build/fuzz/module-crash-…
cd "$(dirname "$0")/../.." || exit 1
export to="${B:-build}/fuzz" seconds="${FUZZ:-10}" CLANG="${CLANG:-clang}"
targets=${*:-packet module record recording netlink proc names question accept}
flags="-g -O1 -std=gnu11 -D_GNU_SOURCE -iquote . -fno-sanitize-recover=all"
warn="-Wall -Wextra -Werror"
mkdir -p "$to/obj"

echo 'int LLVMFuzzerTestOneInput(const char *b, long n) { return b && n < 0; }' >"$to/probe.c"
if ! why=$($CLANG -fsanitize=fuzzer,address,undefined -o "$to/probe" "$to/probe.c" 2>&1); then
	for t in $targets; do
		case $why in
		*"not found"* | *"cannot find"* | *"No such file"*)
			echo "skip fuzz $t: clang has no fuzzer here (Debian 12: libclang-rt-14-dev)" ;;
		*)	echo "not ok fuzz $t: $why" | head -n 1; exit 1 ;;
		esac
	done
	exit 0
fi

# Headers may be unaligned, which BPF allows. Maps of one name are one map, as with pins; each program brings its
# licence.
packet_build() {
	hooks="xdp/xdp_hook.bpf.c bpf/hooks/tc.bpf.c tests/fuzz/hooks.c"
	# shellcheck disable=SC2086
	$CLANG $flags -fsanitize=fuzzer,address,undefined -fno-sanitize=alignment -fcommon \
		'-D_license=__attribute__((weak))_license' $warn -Wno-unused-parameter \
		-Wno-unknown-attributes -Itests/fuzz/stub -o "$to/packet" $hooks tests/fuzz/packet.c \
		tests/fuzz/compare.c tests/fuzz/kernel.c tests/fuzz/oracle.c
}

# The readers, unchanged, on the fake kernel of tests/fuzz/world.c and machine.c.
readers="$(grep -E '^[a-z]+/' tests/fuzz/readers) tests/fuzz/world.c tests/fuzz/machine.c"
asked="fopen access fsopen ioctl if_indextoname opendir readdir closedir scandir readlink clock_gettime nanosleep flock fstat
	setns syscall"
wrapped="mnl_socket_open2 mnl_socket_bind mnl_socket_sendto mnl_socket_recvfrom mnl_socket_get_portid
	mnl_socket_close sysfs_open bpf_prog_query_opts xdp_multiprog__get_from_ifindex"
export instead="$flags -fsanitize=fuzzer-no-link,address,undefined $warn -I${B:-build}/skel
	$(for f in $asked; do printf ' -D%s=fuzz_%s' "$f" "$f"; done)"

readers_build() {
	# shellcheck disable=SC2016
	echo $readers drivers/*.c | tr ' ' '\n' | xargs -P 2 -n 8 sh -c 'for c; do
		o=$to/obj/$(echo "$c" | tr / _).o
		$CLANG $instead -MMD -MP -c -o "$o" "$c" || exit 255; done' sh &&
		rm -f "$to/readers.a" && ar rcs "$to/readers.a" "$to"/obj/*.o
}

reader_build() {	# TARGET
	# shellcheck disable=SC2086,SC2046
	$CLANG $flags $warn -fsanitize=fuzzer,address,undefined -o "$to/$1" "tests/fuzz/$1.c" "$to/readers.a" \
		$(for f in $wrapped; do printf ' -Wl,--wrap=%s' "$f"; done) \
		-lxdp -lbpf -lmnl -lelf -lm
}

# Its reader, and what that needs of the program as it was built.
recording_build() {
	# shellcheck disable=SC2086,SC2046
	$CLANG $flags $warn -fsanitize=fuzzer,address,undefined -I"${B:-build}/skel" -o "$to/recording" \
		tests/fuzz/recording.c record/*.c lib/core/key.c \
		$(find lib render findings xdp bpf drivers probes -name '*.c' ! -name '*.bpf.c' ! -name key.c |
			sed "s|^|${B:-build}/|; s|c$|o|") \
		-lxdp -lbpf -lmnl -lelf -lz -lm -lpthread
}

accept_build() {
	# shellcheck disable=SC2086
	$CLANG $flags $warn -fsanitize=fuzzer,address,undefined -o "$to/accept" tests/fuzz/accept.c serve/negotiate.c
}

build() {	# reports a failure
	name=$1
	shift
	"$@" >"$to/$name.log" 2>&1 && return
	cat "$to/$name.log" >&2
	echo "not ok fuzz $name: it does not build"
	exit 1
}

[ "$targets" = packet ] || [ "$targets" = recording ] || [ "$targets" = accept ] || build readers readers_build
for t in $targets; do
	case $t in
	packet) build packet packet_build ;;
	recording) build recording recording_build ;;
	accept) build accept accept_build ;;
	*) build "$t" reader_build "$t" ;;
	esac
done
python3 tests/fuzz/seeds.py "$to/seeds" packet || exit 1
python3 tests/fuzz/reader_seeds.py "$to/seeds" || exit 1

# shellcheck disable=SC2016
echo $targets | tr ' ' '\n' | xargs -P 2 -n 1 sh -c '
	mkdir -p "$to/corpus/$1" "$to/seeds/$1"
	case $1 in packet) most=256 ;; module | record) most=16384 ;; *) most=4096 ;; esac
	if ASAN_OPTIONS=allocator_may_return_null=1:detect_odr_violation=0 "$to/$1" -max_total_time="$seconds" \
		-timeout=10 -rss_limit_mb=2048 -max_len=$most -print_final_stats=1 \
		-artifact_prefix="$to/$1-" "$to/corpus/$1" "$to/seeds/$1" >"$to/$1.log" 2>&1; then
		echo "ok fuzz $1: $(sed -n "s/^stat::number_of_executed_units: *//p" "$to/$1.log") runs"
		exit 0
	fi
	# our own word for it, else the sanitizer'"'"'s
	why=$(grep -m 1 -E "^mismatch|ERROR: (Address|Undefined|Leak)|runtime error|ERROR: libFuzzer" "$to/$1.log")
	echo "not ok fuzz $1: $why; $(sed -n "s/.*Test unit written to //p" "$to/$1.log"), log: $to/$1.log"
	exit 1' sh
