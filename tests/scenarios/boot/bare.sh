# SPDX-License-Identifier: GPL-2.0-only
# scenario: the bare boot gives a machine in which user programs and udev work
# kernel: 6.12 6.1 debug
# shellcheck shell=sh disable=SC1091
. /run/lastref/tap.sh

is "PID 1 is the agent" "$(cat /proc/1/comm)" agent
check "udevd runs" pgrep -x systemd-udevd
check "the root file system takes writes" touch /var/tmp/written
check "debugfs is mounted" mountpoint -q /sys/kernel/debug
check "the loopback interface is up" ping -c 1 -q 127.0.0.1
check "modules of the running kernel are there" test -e "/lib/modules/$(uname -r)/modules.dep"
check "the in-tree RDMA core loads" modprobe ib_uverbs
check "and ibv_devices runs on it" ibv_devices
check "the in-tree driver loads" modprobe mlx4_ib
check "and leaves" modprobe -r mlx4_ib mlx4_core ib_uverbs ib_core
n=0
while [ -e /sys/module/ib_core ] && [ $n -lt 50 ]; do
	n=$((n + 1))
	sleep 0.1
done
check "the RDMA core is gone" test ! -e /sys/module/ib_core
