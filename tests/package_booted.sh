# SPDX-License-Identifier: GPL-2.0
# Called by package_long.sh, under a systemd that booted in a root and a network namespace of its own: installs the
# package; its units attach, record and serve, while the interface comes and goes, through an upgrade and a removal.
cd /root || exit 1
deb=$(echo /root/nicprobe_*.deb)
result() {
	[ "$2" = 0 ] && echo "ok units: $1" || echo "not ok units: $1: $(tail -n 12 log | tr '\n' ' ')"
}
same() {	# NAME WANTED GOT
	[ "$2" = "$3" ] && echo "ok units: $1" || echo "not ok units: $1: wanted '$2', got '$3'"
}
until_is() {	# COMMAND: true within ten seconds
	for _ in $(seq 100); do
		eval "$1" >/dev/null 2>&1 && return
		sleep .1
	done
	return 1
}
state() { systemctl is-active "$@" | tr '\n' ' '; }
wires() { ip link add npt0 type veth peer name npt1 && ip link set npt0 up && ip link set npt1 up; }
get() { bash -c 'exec 3<>/dev/tcp/127.0.0.1/9920; printf "GET $0 HTTP/1.0\r\n\r\n" >&3; cat <&3' "$1"; }
alice() { setpriv --reuid=alice --regid=alice --init-groups "$@"; }

# A container has no device units: its /sys can be read only, and no udev runs. Here they are needed.
mkdir -p /run/groups && mount --rbind /sys/fs/cgroup /run/groups && mount -t sysfs sysfs /sys &&
	mount -o remount,rw /sys && mount --rbind /run/groups /sys/fs/cgroup &&
	mount -t bpf -o mode=0700 bpf /sys/fs/bpf && systemctl start systemd-udevd && systemctl daemon-reexec || exit 1
ip link set lo up

dpkg -i "$deb" >log 2>&1
result "installed" $? log
same "none is enabled" "disabled indirect disabled disabled " "$(systemctl is-enabled nicprobe-serve.socket nicprobe-serve.service \
	nicprobe-attach@npt0 nicprobe-record@npt0 | tr '\n' ' ')"
same "none runs" "inactive inactive " "$(state nicprobe-serve.socket nicprobe-serve.service)"
systemctl enable nicprobe-record@npt0 2>/dev/null
wires
until_is '[ "$(state nicprobe-attach@npt0 nicprobe-record@npt0)" = "active active " ]'
result "the interface comes: it is attached and recorded" $? log
same "all pass through /sys/fs/bpf, and no more" 1 "$(stat -c %a /sys/fs/bpf | tail -c 2)"
same "group and mode of the pins" "nicprobe 750" "$(stat -c '%G %a' /sys/fs/bpf/nicprobe)"
meters() { nicprobe list | tr ' ' '\n' | grep -xFf <(nicprobe complete meters) | tr '\n' ' '; }
unit=$(meters)
nicprobe detach npt0 && nicprobe attach --group nicprobe npt0 >/dev/null
same "the sandbox takes away no meter" "$(meters)" "${unit:-none}"
nicprobe detach npt0; systemctl restart nicprobe-attach@npt0

useradd -G nicprobe alice && useradd bob
alice nicprobe list >log 2>&1 && grep -q npt0 log
result "a member lists" $? log
alice nicprobe show -t npt0 >log 2>&1
result "and shows" $? log
until_is 'alice nicprobe show -t --from /var/lib/nicprobe/npt0.npr'
result "and reads the recording" $? log
setpriv --reuid=bob --regid=bob --init-groups nicprobe show npt0 >log 2>&1
[ $? = 1 ] && grep -q "Permission denied" log
result "who is no member is refused" $? log

systemctl enable --now nicprobe-serve.socket 2>/dev/null
get /metrics >log && grep -q 'nicprobe_interface_info{.*interface="npt0"' log && grep -q '^HTTP/1.[01] 200' log
result "the first request starts the server, which answers" $? log
pid=$(systemctl show -P MainPID nicprobe-serve)
none=0000000000000000
same "as nicprobe, without any capability, and without a way to one" "nicprobe $none $none $none 1 " \
	"$(stat -c %U /proc/$pid) $(sed -nE 's/^(Cap(Prm|Eff|Amb)|NoNewPrivs):\t//p' /proc/$pid/status | tr '\n' ' ')"

ip link del npt0
until_is '[ "$(state nicprobe-attach@npt0 nicprobe-record@npt0)" = "inactive inactive " ]'
result "the interface goes: so do the units" $? log
same "nothing stays attached" "nothing is attached" "$(nicprobe list)"
wires
until_is '[ "$(state nicprobe-attach@npt0 nicprobe-record@npt0)" = "active active " ]'
result "it comes again, and so do they" $? log
before=$(systemctl show -P MainPID nicprobe-record@npt0)
dpkg -i "$deb" >log 2>&1
result "upgraded" $? log
until_is '[ "$(state nicprobe-attach@npt0 nicprobe-record@npt0 nicprobe-serve.socket nicprobe-serve)" = "active active active active " ]'
result "they run again" $? log
[ "$(systemctl show -P MainPID nicprobe-record@npt0)" != "$before" ]
result "by the new version" $? log
systemctl stop nicprobe-attach@npt0
same "stopped: detached, and recorded no more" "nothing is attached inactive " "$(nicprobe list) $(state nicprobe-record@npt0)"
systemctl start nicprobe-record@npt0
ip link add dev npt2 type veth peer name npt3 && nicprobe attach npt2 >/dev/null
same "another is attached by hand" 2 "$(nicprobe list | grep -c '^npt')"
dpkg --remove nicprobe >log 2>&1
result "removed" $? log
same "detached what was attached" "" "$(ls /sys/fs/bpf | grep nicprobe)"
same "and nothing runs" "" "$(systemctl list-units --no-legend --state=active 'nicprobe-*[a-z0]')"
dpkg --purge nicprobe >log 2>&1
systemctl daemon-reload
same "purged: no unit, no user, no recording" "" "$(systemctl list-unit-files --no-legend 'nicprobe*'; getent passwd nicprobe
	getent group nicprobe; find / -xdev -name '*nicprobe*' -not -path '/root/*' -not -path '/var/lib/dpkg/*' -not -path '/var/log/*')"
echo "# all of it"
