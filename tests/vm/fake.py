# SPDX-License-Identifier: GPL-2.0-only
"""HCAs in software (tests/modules/fake) for scenarios of ib_core: each is a platform device."""
import modules

DRIVER = '/sys/bus/platform/drivers/lastref_fake'


def load(t, hcas=2):
    """ib_core and the test module in the guest, with so many HCAs."""
    t.vm.sh('modprobe ib_core')
    t.ok('/updates/' in t.vm.sh('modinfo -n ib_core').out, 'modprobe finds our ib_core')
    with open(modules.test_module(t.vm.kernel.name, 'fake', ('kunit/suites/core',)), 'rb') as module:
        t.vm.put(module.read(), '/run/lastref/lastref_fake.ko')
    t.vm.sh('insmod /run/lastref/lastref_fake.ko ' + f'hcas={hcas} && udevadm settle')


def unload(t):
    """The modules leave; ib_core stays while somebody's memory of it does, which the debug kernel delays."""
    t.vm.sh('rmmod lastref_fake && n=0 && until rmmod ib_core; do n=$((n + 1)); [ $n -lt 20 ] || exit 1; sleep 1; done')


def unbind(t, n, **how):
    """The HCA number `n` leaves."""
    return t.vm.sh(f'echo lastref_fake.{n} >{DRIVER}/unbind', **how)


def bind(t, n):
    """It comes back."""
    t.vm.sh(f'echo lastref_fake.{n} >{DRIVER}/bind; udevadm settle')
