# SPDX-License-Identifier: GPL-2.0-only
# scenario: DKMS under users' feet: from in-tree, upgraded while interfaces are up, and back
# kernel: 6.12
# hcas: 3
# fabric: one
# limit: 900
# alone: yes
"""B116, B120. A machine runs the kernel's own stack, with IPoIB up: `make install` and `scripts/reload` put ours
in its place. The same for a newer version, with programs that have devices open: all or nothing. Then
`make uninstall` and the in-tree modules again. A new kernel under the modules is ipoib/new_kernel."""
import os

import dkms
import images
import ipnet

MODULES = 'ib_core mlx4_core mlx4_ib ib_umad ib_ipoib'
NEWER = '99.1'


def install(t, root, release):
    done = dkms.inside(root, f'/root/lastref/scripts/dkms install {release}')
    t.ok(done.returncode == 0, f'make install, version {dkms.version(root)}', done.stdout[-600:])
    dkms.carry(t, root)


def versions(t):
    return set(t.vm.sh(f'for m in {MODULES}; do cat /sys/module/$m/version 2>/dev/null || echo in-tree; done'
                       ).out.split())


def reload(t):
    return t.vm.sh('/run/lastref/scripts/reload', check=False, limit=120)


def reloaded(t, got, want, what):
    t.ok((got.status, versions(t)) == (0, want), f'reload: {what}', f'{versions(t)}\n{got.out}{got.err}')


def put_scripts(t):
    t.vm.sh('mkdir -p /run/lastref/scripts')
    for name in ('scripts/lib.sh', 'scripts/reload', 'dkms.conf'):
        t.vm.put_file(os.path.join(images.REPO, name), f'/run/lastref/{name}')


def end_sm(t, sm):
    sm.kill(15)
    sm.wait(60)


def from_in_tree(t, root, release):
    """What a machine runs before it has ever seen these modules, with interfaces up."""
    sm = ipnet.bring_up(t)
    t.ok(ipnet.lossless(ipnet.ping(t, (0, 1), (1, 1))), 'the in-tree modules carry traffic')
    install(t, root, release)
    ours = dkms.version(root)
    t.ok(ours not in versions(t), 'and go on to run after make install', versions(t))
    end_sm(t, sm)
    reloaded(t, reload(t), {ours}, 'every module is ours')


def in_use(t, root, release):
    """A newer version is installed and loaded while interfaces are up."""
    old = versions(t)
    sm = ipnet.bring_up(t)
    going = t.vm.start_sh(f'exec ip netns exec h0p1 ping -i 0.1 {ipnet.address(1, 1)}')
    dkms.version(root, NEWER)
    install(t, root, release)
    got = reload(t)
    t.ok(got.status and 'ib_umad is in use' in got.err, 'reload refuses while opensm has a device open', got.err)
    t.equal(versions(t), old, 'and has touched nothing')
    t.ok(ipnet.lossless(ipnet.ping(t, (0, 1), (1, 1))), 'traffic goes on')
    end_sm(t, sm)
    reloaded(t, reload(t), {NEWER}, 'every module is the newer one')
    going.kill()
    sm = ipnet.start_sm(t)
    ipnet.wait_ports(t, 6)
    for hca in (0, 1, ipnet.SM):
        ipnet.settle_in(t, hca)
    t.ok(ipnet.lossless(ipnet.ping(t, (0, 1), (1, 1))), 'interfaces are up and carry traffic')
    end_sm(t, sm)


def in_tree_again(t, root, release):
    done = dkms.inside(root, f'/root/lastref/scripts/dkms uninstall {release}')
    t.ok(done.returncode == 0, 'make uninstall', done.stdout)
    t.vm.sh('rm -rf /lib/modules/$(uname -r)/updates; depmod')
    got = reload(t)
    t.ok(not got.status and NEWER not in versions(t), 'reload: nothing of ours runs',
         f'{versions(t)}\n{got.out}{got.err}')
    t.equal(t.vm.sh(f'for m in {MODULES}; do [ -d /sys/module/$m ] || echo $m; done').out, '',
            'each of the in-tree modules does')
    t.equal(t.vm.sh('ls /sys/class/infiniband | wc -l').out.strip(), '3', 'and drives its HCA')
    t.vm.sh('modprobe -r ib_ipoib ib_umad; rmmod mlx4_ib mlx4_core', check=False)
    t.equal([ipnet.audit(t, hca) for hca in range(3)], ['', '', ''], 'nothing is left in any HCA')


def scenario(t):
    release = t.vm.kernel.release
    with dkms.layer() as root:
        put_scripts(t)
        from_in_tree(t, root, release)
        in_use(t, root, release)
        in_tree_again(t, root, release)
