# SPDX-License-Identifier: GPL-2.0-only
# scenario: a machine with our modules goes from kernel 6.1 to 6.12: DKMS builds them for it
# kernel: 6.12
# limit: 900
# alone: yes
"""What the package of a new kernel calls when it is installed, in a copy of the guest's root file system; then the
new kernel boots, and its modprobe finds ours."""
import dkms
import images

MODULES = 'ib_core mlx4_core mlx4_ib ib_umad ib_ipoib'


def installed(root, release):
    return [m for m in MODULES.split() if '/updates/dkms/' in dkms.found(root, release, m)]


def scenario(t):
    old, new = (images.kernel(name).release for name in ('6.1', '6.12'))
    with dkms.layer() as root:
        done = dkms.inside(root, f'/root/lastref/scripts/dkms install {old}')
        t.equal(installed(root, old), MODULES.split(), f'make install: every module, for {old}')
        t.equal(installed(root, new), [], f'and none for {new}')
        done = dkms.inside(root, f'/etc/kernel/postinst.d/dkms {new}')
        t.ok(done.returncode == 0, f'the hook of the package of {new}', done.stdout[-600:])
        t.equal(installed(root, new), MODULES.split(), 'has had every module built for it')
        t.equal(installed(root, old), MODULES.split(), 'the older kernel keeps its own')
        dkms.carry(t, root)
        t.vm.sh('modprobe mlx4_ib && modprobe ib_umad && modprobe ib_ipoib', limit=120)
        have = t.vm.sh(f'for m in {MODULES}; do cat /sys/module/$m/version; done').out.split()
        t.equal(set(have), {dkms.version(root)}, 'the new kernel loads them: they have our version')
