# SPDX-License-Identifier: GPL-2.0-only
# scenario: under systemd the units of rdma-core are there and do what they say
# kernel: 6.12 6.1
# boot: full
# limit: 120
# shellcheck shell=sh disable=SC1091
. /run/lastref/tap.sh

is "PID 1 is systemd" "$(cat /proc/1/comm)" systemd
state=$(systemctl is-system-running --wait)
is "the system is up, no unit failed" "$state" running
[ "$state" = running ] || systemctl --failed --plain | sed 's/^/# /'
is "udevd is active" "$(systemctl is-active systemd-udevd)" active
for unit in rdma-load-modules@.service rdma-hw.target rdma-ndd.service opensm.service \
	iwpmd.service; do
	check "there is a unit $unit" systemctl cat "$unit"
done
check "rdma-core's udev rules are installed" \
	test -e /lib/udev/rules.d/60-rdma-persistent-naming.rules
check "the modules of a fabric load by unit" systemctl start rdma-load-modules@infiniband.service
check "and IPoIB and the MAD device are among them" test -e /sys/module/ib_ipoib -a -e /sys/module/ib_umad
check "dkms runs" dkms status
