# SPDX-License-Identifier: GPL-2.0
# Called by package_over.sh, in a root that may be changed: installs the package, uses it, removes and purges it.
cd /tmp || exit 1
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
result() {
	[ "$2" = 0 ] && echo "ok package: $1" || echo "not ok package: $1: $(tail -n 12 log | tr '\n' ' ')"
}
apt-get install -qq -y --no-install-recommends ./nicprobe_*.deb >log 2>&1
result "it is installed" $? log
dpkg-query -L nicprobe | while read -r file; do
	[ -e "$file" ] || echo "no $file"
done >log
[ ! -s log ]
result "all its files are there" $? log
[ "$(stat -c '%U %G %a' /var/lib/nicprobe 2>&1 | tee log)" = "nicprobe nicprobe 750" ]
result "its user, its group and the place for recordings" $? log
for unit in nicprobe-attach@lo.service nicprobe-record@lo.service nicprobe-serve.service nicprobe-serve.socket; do
	systemd-analyze verify --man=yes "$unit"
done >log 2>&1
[ ! -s log ]
result "systemd has nothing to say about its units" $? log
for page in nicprobe.8 nicprobe-units.7 nicprobe-json.5; do
	zcat "/usr/share/man/man${page##*.}/$page.gz" | grep -q '^\.Sh NAME' || echo "no $page"
done >log
[ ! -s log ]
result "its man pages" $? log
ip link set lo up
sh ./attach >log 2>&1
result "debian/tests/attach" $? log
dpkg --remove nicprobe >log 2>&1 && [ ! -e /usr/sbin/nicprobe ] && [ -e /etc/default/nicprobe ]
result "removed, all but its options" $? log
mkdir -p /etc/systemd/system/sys-subsystem-net-devices-eth0.device.wants	# as `systemctl enable` does
ln -s /lib/systemd/system/nicprobe-attach@.service \
	/etc/systemd/system/sys-subsystem-net-devices-eth0.device.wants/nicprobe-attach@eth0.service
echo x >/var/lib/nicprobe/eth0.npr
dpkg --purge nicprobe >log 2>&1
result "purged" $? log
