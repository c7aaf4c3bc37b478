# SPDX-License-Identifier: GPL-2.0
# Called by package_long.sh in a machine that booted with a card, under the systemd of a root in which the package is
# installed and its units are enabled: they attach, record and serve without anybody's doing.
result() {
	[ "$2" = 0 ] && echo "ok machine: $1" || echo "not ok machine: $1: $(tail -n 12 /tmp/log | tr '\n' ' ')"
}
same() {	# NAME WANTED GOT
	[ "$2" = "$3" ] && echo "ok machine: $1" || echo "not ok machine: $1: wanted '$2', got '$3'"
}
until_is() {	# COMMAND: true within a minute: emulated machines are slow
	for _ in $(seq 120); do
		eval "$1" >/tmp/log 2>&1 && return
		sleep .5
	done
	return 1
}
state() { systemctl is-active "$@" | tr '\n' ' '; }
card=enp0s4
counted() {	# rx|tx: the packets that nicprobe counted at that nic point
	nicprobe show -f openmetrics "$card" | sed -n "s/^nicprobe_packet_size_bytes_count{.*point=\"$1-nic\".*} //p" |
		awk '{ n += $1 } END { print n + 0 }'
}
kernels() { cat "/sys/class/net/$card/statistics/$1_packets"; }

until_is '[ "$(state nicprobe-attach@$card nicprobe-record@$card nicprobe-serve.socket)" = "active active active " ]'
result "the card is there: it is attached, recorded and served" $?
same "before its link is up" "down" "$(cat /sys/class/net/$card/operstate)"
same "no unit of ours failed" "" "$(systemctl list-units --failed --no-legend --plain 'nicprobe-*' | tr '\n' ' ')"
ip addr add 10.9.0.2/24 dev $card && ip link set $card up && ping -q -c 40 -i .2 -w 40 10.9.0.1 >/tmp/log 2>&1
result "40 pings are answered" $?
for way in rx tx; do
	until_is '[ "$(counted $way)" = "$(kernels $way)" ]'	# some are sent meanwhile
	status=$?
	result "each packet since boot is counted, $way: $(counted $way)" $status
done
[ "$(counted rx)" -ge 40 ]
result "among them the answers" $?
bash -c 'exec 3<>/dev/tcp/127.0.0.1/9920; printf "GET /metrics HTTP/1.0\r\n\r\n" >&3; cat <&3' >/tmp/log
grep -q "nicprobe_interface_info{.*interface=\"$card\"" /tmp/log
result "the first request starts the server, which answers" $?
until_is "nicprobe show -t --from /var/lib/nicprobe/$card.npr"
result "the recording has it" $?
systemctl stop nicprobe-attach@$card
same "stopped: the record ends with it" "inactive inactive " "$(state nicprobe-attach@$card nicprobe-record@$card)"
same "nothing stays attached" "nothing is attached" "$(nicprobe list)"
systemctl start nicprobe-record@$card
until_is '[ "$(state nicprobe-attach@$card nicprobe-record@$card)" = "active active " ]'
result "started again" $?
echo "# all of it"
