# SPDX-License-Identifier: GPL-2.0-only
# scenario: ib_core loads and unloads, many times, and leaves nothing behind
# kernel: 6.12 6.1 debug
# modules: ours
# limit: 400
# shellcheck shell=sh disable=SC1091
. /run/lastref/tap.sh

rounds=100
grep -q debug /proc/version && rounds=50

mounts=$(wc -l </proc/mounts)
done=0
while [ "$done" -lt "$rounds" ]; do
	modprobe ib_core || break
	rmmod ib_core || break
	done=$((done + 1))
done
is "loaded and unloaded $rounds times" "$done" "$rounds"
is "it is not loaded any more" "$(grep -c '^ib_core ' /proc/modules)" 0
is "no mount is left" "$(wc -l </proc/mounts)" "$mounts"
check "its folder in debugfs is gone" test ! -e /sys/kernel/debug/infiniband

modprobe ib_core
check "its folder in debugfs is there while it is loaded" test -e /sys/kernel/debug/infiniband
is "nothing is in quarantine" "$(cat /sys/kernel/debug/infiniband/quarantine)" ""
is "the clock's first threshold can be read" "$(cat /sys/module/ib_core/parameters/polite_ms)" 3000
is "and its last" "$(cat /sys/module/ib_core/parameters/quarantine_ms)" 15000
check "the trace events are there" test -e /sys/kernel/tracing/events/ib_teardown/ib_teardown_state
rmmod ib_core
