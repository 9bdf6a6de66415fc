# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Shell library of the host tooling: where things are, how to say something, how to wait for a lock.
# Source it after setting nothing; it sets `repo` (this checkout) and `cache` (built things, shared by
# all checkouts of the user, safe to delete when nothing runs).

# Upwards from the program that sources this, however deep it lies: git refuses another user's folder.
# shellcheck disable=SC2034
repo=$(cd "$(dirname "$0")" && while [ ! -e scripts/lib.sh ] && [ "$PWD" != / ]; do cd ..; done && pwd)
cache=${LASTREF_CACHE:-${HOME:-/root}/.cache/lastref}
jobs=$(nproc)
export LASTREF_CACHE="$cache" jobs

# say TEXT: progress for the person who waits; results go to stdout, so this does not.
say() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

# die TEXT: one clear line, then failure.
die() {
	say "$@"
	exit 1
}

# need_root WHAT: packages and root file systems need it.
need_root() {
	[ "$(id -u)" = 0 ] || die "$1 needs root; run it as root"
}

# need_debian: the package names and kernels are those of Debian 12 on amd64.
need_debian() {
	id='' rel=''
	# shellcheck disable=SC1091
	[ -r /etc/os-release ] && id=$(. /etc/os-release && echo "$ID") &&
		rel=$(. /etc/os-release && echo "${VERSION_ID:-}")
	[ "$id" = debian ] && [ "$rel" = 12 ] ||
		die "this needs Debian 12, and here is '${id:-an unknown system} $rel'"
	[ "$(uname -m)" = x86_64 ] || die "this needs an amd64 machine, and here is $(uname -m)"
}

# need_space DIR GIB: refuse before a long build, not in the middle of it.
need_space() {
	mkdir -p "$1" || die "cannot create $1"
	free=$(df -Pk "$1" | awk 'NR == 2 { print int($4 / 1048576) }')
	[ "$free" -ge "$2" ] || die "$1 has $free GiB free, and $2 GiB are needed (set LASTREF_CACHE)"
}

# locked NAME: hold the cache's lock NAME (descriptor 9) until this shell ends; a second run waits.
locked() {
	mkdir -p "$cache/lock"
	exec 9>"$cache/lock/$1" || die "cannot open the lock $cache/lock/$1"
	flock -n 9 && return 0
	say "another run is at work on '$1', waiting for it"
	flock 9
}

# fresh DIR: an empty DIR to build in; `keep DIR` makes it the finished one. What a killed run left
# under the temporary name is removed first, so that only whole results ever carry the final name.
fresh() {
	rm -rf "$1.part"
	mkdir -p "$1.part"
}

keep() {
	rm -rf "$1"
	mv "$1.part" "$1"
}

# pkg_key VERSION: a Debian version as a path component.
pkg_key() {
	printf '%s\n' "$1" | tr '~:' '--'
}
