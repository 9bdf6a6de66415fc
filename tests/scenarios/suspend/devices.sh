# SPDX-License-Identifier: GPL-2.0-only
# scenario: devices are suspended and resumed, as far as the kernel's own test of it goes
# kernel: 6.12 debug
# limit: 90
# shellcheck shell=sh disable=SC1091
. /run/lastref/tap.sh

check "the test of devices can be chosen" sh -c 'echo devices >/sys/power/pm_test'
check "devices suspend and resume" sh -c 'echo mem >/sys/power/state'
check "the test is switched off again" sh -c 'echo none >/sys/power/pm_test'
check "the disk works" sh -c 'touch /var/tmp/after && sync'
is "one suspend has succeeded" "$(cat /sys/power/suspend_stats/success)" 1
