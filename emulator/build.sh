#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# build.sh: build the emulated HCA as a plugin for the installed
# qemu-system-x86_64 and print the path of the shared object. Nothing is
# rebuilt while neither QEMU's version nor a source file has changed.

set -eu

here=$(dirname "$(realpath "$0")")
cache=${LASTREF_CACHE:-$HOME/.cache/lastref}
deb_source=$here/../scripts/deb-source

version=$(dpkg-query -W -f '${source:Version}' qemu-system-x86 2>/dev/null) || {
	echo "build.sh: qemu-system-x86 is not installed" >&2
	exit 1
}
key=$(printf %s "$version" | tr -c 'A-Za-z0-9.\n' -)
qemu=$cache/qemu/$key
out=$cache/emulator/$key-$(printf %s "$here" | sha256sum | cut -c1-12)
mkdir -p "$qemu" "$out"

# One build at a time; the next one finds everything done.
exec 9> "$out/lock"
flock 9

"$deb_source" qemu "$version" "$qemu/src"
if [ ! -f "$qemu/gen/.done" ]; then
	rm -rf "$qemu/gen"
	mkdir -p "$qemu/gen/qapi"
	python3 "$qemu/src/scripts/qapi-gen.py" -o "$qemu/gen/qapi" -b \
		"$qemu/src/qapi/qapi-schema.json" > /dev/null
	: > "$qemu/gen/config-poison.h"
	: > "$qemu/gen/.done"
fi

make -s -j2 -C "$here/qemu" QEMU="$qemu" OUT="$out" VERSION="$(cat "$qemu/src/VERSION")" >&2
echo "$out/cx3.so"
