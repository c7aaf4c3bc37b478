# SPDX-License-Identifier: GPL-2.0
# Called by package.sh if PACKAGE=long, in minutes: Debian is unpacked three times. In one root the package is built from
# the source with what debian/control asks for; in another a systemd boots, which installs it and runs its units; the third
# is that of an emulated machine with a card, in which they run from its boot on.
dir=$1
result() {
	[ "$2" = 0 ] && echo "ok package: $1" || echo "not ok package: $1: $(tail -n 12 "$3" | tr '\n' ' ')"
}

for tool in mmdebstrap systemd-nspawn; do
	command -v $tool >/dev/null || { echo "skip package: $tool is not installed"; exit 0; }
done
trap 'umount -l "$dir/build/proc" 2>/dev/null; rm -rf --one-file-system "$dir/build" "$dir/boot" "$dir/machine"' EXIT

mmdebstrap -q --variant=minbase --include=systemd-sysv,dbus,udev,iproute2,iputils-ping bookworm "$dir/root.tar" \
	>"$dir/log" 2>&1
result "a root of Debian" $? "$dir/log"
for root in build boot machine; do
	mkdir "$dir/$root" && tar -C "$dir/$root" -xf "$dir/root.tar" && cp /etc/resolv.conf "$dir/$root/etc" || exit 1
done
rm "$dir/root.tar"

mkdir "$dir/build/src" && git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$dir/build/src"
mount -t proc none "$dir/build/proc"
export DEBIAN_FRONTEND=noninteractive
chroot "$dir/build" sh -c "apt-get update -qq && cd /src &&
	apt-get install -qq -y --no-install-recommends build-essential && apt-get build-dep -qq -y --no-install-recommends ." >"$dir/log" 2>&1
result "what debian/control asks for is installed" $? "$dir/log"
chroot "$dir/build" sh -c "cd /src && dpkg-buildpackage -us -uc" >"$dir/log" 2>&1
result "it is built from the source, in a root with nothing else" $? "$dir/log"
lintian --allow-root --fail-on error,warning "$dir"/build/nicprobe_*.changes >"$dir/log" 2>&1
result "lintian finds no error and no warning in all of it" $? "$dir/log"
umount "$dir/build/proc"

deb=$(echo "$dir"/build/nicprobe_*_*.deb)
needs=$(dpkg-deb -f "$deb" Depends),$(dpkg-deb -f "$deb" Recommends)
for root in boot machine; do
	chroot "$dir/$root" sh -c "apt-get update -qq && apt-get satisfy -qq -y --no-install-recommends '$needs'" >"$dir/log" 2>&1
	result "what it depends on is installed: $root" $? "$dir/log"
done
cp "$deb" debian/tests/attach tests/package_booted.sh tests/package_in_root.sh "$dir/boot/root"
cat >"$dir/boot/etc/systemd/system/booted.service" <<'U'
[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/bin/bash /root/package_booted.sh
StandardOutput=file:/root/said
StandardError=inherit
ExecStopPost=/bin/systemctl --no-block poweroff -f
TimeoutStartSec=200
U
mkdir -p "$dir/boot/etc/systemd/system/multi-user.target.wants"
ln -s ../booted.service "$dir/boot/etc/systemd/system/multi-user.target.wants"
# These would change the machine, or ask the network.
for unit in systemd-udev-trigger.service systemd-sysctl.service systemd-modules-load.service apt-daily.timer \
	apt-daily-upgrade.timer e2scrub_reap.service; do
	ln -s /dev/null "$dir/boot/etc/systemd/system/$unit"
done
timeout -k 5 240 systemd-nspawn --register=no --keep-unit --private-network --capability=all \
	--system-call-filter="bpf perf_event_open" -D "$dir/boot" -b </dev/null >"$dir/log" 2>&1
grep -E '^(ok|not ok|skip) ' "$dir/boot/root/said"
grep -q '^# all of it' "$dir/boot/root/said"
result "systemd booted, and ran all of it" $? "$dir/boot/root/said"

cache=${NICPROBE_VM:-${XDG_CACHE_HOME:-$HOME/.cache}/nicprobe-vm}
for kernel in 6.1 6.12; do
	[ -e "$cache/kernels/$kernel" ] || { echo "skip package: a machine of $kernel: make check-vm fetches it"; continue; }
	if [ ! -e "$dir/machine/usr/sbin/nicprobe" ]; then
		cp "$deb" "$dir/machine/root"
		chroot "$dir/machine" sh -c "dpkg -i /root/nicprobe_*.deb && systemctl enable nicprobe-attach@enp0s4 \
			nicprobe-record@enp0s4 nicprobe-serve.socket" >"$dir/log" 2>&1
		result "its units are enabled" $? "$dir/log"
	fi
	tests/vm/boot -b "$dir/machine" -n virtio:4 -m 1G -t 400 "$cache" $kernel "$(cat tests/package_machine.sh)" \
		>"$dir/said" 2>"$dir/log"
	grep -E '^(ok|not ok|skip) ' "$dir/said" | sed "s/machine:/$kernel, machine:/"
	grep -q '^# all of it' "$dir/said"
	result "a machine of $kernel booted, and ran all of it" $? "$dir/log"
done
