# SPDX-License-Identifier: GPL-2.0-only
# scenario: the machine reboots under kernel traffic; no DMA afterwards, and the HCAs work in the next boot
# kernel: 6.12 6.1
# hcas: 2
# fabric: two
# modules: ours
# limit: 300
# alone: yes
"""X6: no task is asked, only the reboot notifier and .shutdown run.

REBOOT_WAYS says how it goes down, in turn (reboot kexec); tests/long/reboot.py does all there are, several times.
"""
import os

import kreboot


def scenario(t):
    kreboot.go_down(t, (os.environ.get('REBOOT_WAYS') or 'reboot kexec').split())
