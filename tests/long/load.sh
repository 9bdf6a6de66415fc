# SPDX-License-Identifier: GPL-2.0-only
# scenario: ib_core loads and unloads a thousand times, and leaves nothing behind
# kernel: 6.12
# modules: ours
# limit: 1200
# shellcheck shell=sh disable=SC1091
. /run/lastref/tap.sh

mounts=$(wc -l </proc/mounts)
done=0
while [ "$done" -lt 1000 ]; do
	modprobe ib_core || break
	rmmod ib_core || break
	done=$((done + 1))
done
is "loaded and unloaded 1000 times" "$done" 1000
is "no mount is left" "$(wc -l </proc/mounts)" "$mounts"
