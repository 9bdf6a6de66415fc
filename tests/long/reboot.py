# SPDX-License-Identifier: GPL-2.0-only
# scenario: the machine goes down under kernel traffic in each way there is, twice and more
# kernel: 6.12
# hcas: 2
# fabric: two
# modules: ours
# limit: 3000
# alone: yes
"""What mlx4/reboot does, in all ways; REBOOT_ROUNDS is how often each (2)."""
import os

import kreboot


def scenario(t):
    kreboot.go_down(t, list(kreboot.WAYS) * int(os.environ.get('REBOOT_ROUNDS') or 2))
