# SPDX-License-Identifier: GPL-2.0-only
# scenario: DKMS puts our modules before the in-tree ones and takes them out again
# kernel: 6.12 6.1
# limit: 900
# alone: yes
"""Installed in a copy of the guest's root file system, as a user would; then tried in the guest.

The copy is a layer over the image and is thrown away. What DKMS has made there is carried into the
guest, whose modprobe decides.
"""
import os

import dkms
import images


def scenario(t):
    release = t.vm.kernel.release
    with dkms.layer() as root:
        there = dkms.found(root, release, 'ib_core')
        t.ok('/kernel/drivers/infiniband/' in there, 'before: the in-tree ib_core is found', there)
        done = dkms.inside(root, f'/root/lastref/scripts/dkms install {release}')
        t.ok(done.returncode == 0, 'scripts/dkms install', done.stdout)
        there = dkms.found(root, release, 'ib_core')
        t.ok('/updates/dkms/' in there, 'modinfo -n ib_core names ours', there)
        dkms.carry(t, root)
        t.vm.sh('modprobe ib_core')
        version = t.vm.sh('cat /sys/module/ib_core/version').out.strip()
        with open(os.path.join(images.REPO, 'dkms.conf'), encoding='utf-8') as conf:
            t.ok(f'PACKAGE_VERSION="{version}"' in conf.read(),
                 'modprobe ib_core loads it: it has our version', version)
        t.vm.sh('modprobe -r ib_core')
        done = dkms.inside(root, f'/root/lastref/scripts/dkms uninstall {release}')
        t.ok(done.returncode == 0, 'scripts/dkms uninstall', done.stdout)
        there = dkms.found(root, release, 'ib_core')
        t.ok('/kernel/drivers/infiniband/' in there, 'after: the in-tree one is found again',
             there)
        left = dkms.inside(root, f'ls /usr/src | grep lastref; find /lib/modules/{release} '
                           '-path "*/updates/*.ko*"').stdout
        t.equal(left, '', 'and nothing of ours is left')
