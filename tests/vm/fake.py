# SPDX-License-Identifier: GPL-2.0-only
"""HCAs in software (tests/modules/fake) for scenarios of ib_core: each is a platform device."""
import os

import images
import modules

DRIVER = '/sys/bus/platform/drivers/lastref_fake'


def build(kernel):
    """Build the test module in the copy of the repository that ib_core was built in."""
    work = os.path.join(images.REPO, 'build', 'modules', kernel, '.')
    where = os.path.normpath(os.path.join(work, 'tests', 'modules', 'fake'))
    # make does not see that the symbols of ib_core changed, and would keep their old versions
    if os.path.exists(os.path.join(where, 'Module.symvers')):
        os.remove(os.path.join(where, 'Module.symvers'))
    return [x for x in modules.build(images.REPO, kernel, f'M={where}',
                                     f'KBUILD_EXTRA_SYMBOLS={os.path.normpath(work)}/Module.symvers',
                                     only=('tests/modules/fake', 'kunit/suites/core'))
            if x.endswith('lastref_fake.ko')]


def load(t, hcas=2):
    """ib_core and the test module in the guest, with so many HCAs."""
    t.vm.sh('modprobe ib_core')
    t.ok('/updates/' in t.vm.sh('modinfo -n ib_core').out, 'modprobe finds our ib_core')
    for path in build(t.vm.kernel.name):
        with open(path, 'rb') as module:
            t.vm.put(module.read(), '/run/lastref/lastref_fake.ko')
    t.vm.sh('insmod /run/lastref/lastref_fake.ko ' + f'hcas={hcas} && udevadm settle')


def unbind(t, n, **how):
    """The HCA number `n` leaves."""
    return t.vm.sh(f'echo lastref_fake.{n} >{DRIVER}/unbind', **how)


def bind(t, n):
    """It comes back."""
    t.vm.sh(f'echo lastref_fake.{n} >{DRIVER}/bind; udevadm settle')
