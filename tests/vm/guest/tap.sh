# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Test points for a scenario that runs in the guest; sourced as `. /run/lastref/tap.sh`.

tap_n=0

# ok STATUS NAME: a point that holds when STATUS is 0.
ok() {
	tap_n=$((tap_n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_n - $2"
	else
		echo "not ok $tap_n - $2"
	fi
}

# check NAME COMMAND...: a point that holds when the command succeeds; what it said if it does not.
check() {
	tap_name=$1
	shift
	tap_status=0
	tap_said=$("$@" 2>&1) || tap_status=$?
	ok $tap_status "$tap_name"
	[ $tap_status = 0 ] || printf '%s\n' "exit status $tap_status: $tap_said" | sed 's/^/# /'
}

# is NAME HAVE WANT: a point that holds when both words are the same.
is() {
	[ "$2" = "$3" ]
	ok $? "$1"
	[ "$2" = "$3" ] || printf '# have: %s\n# want: %s\n' "$2" "$3"
}

# skip NAME WHY: a point that cannot be tried here.
skip() {
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP $2"
}
