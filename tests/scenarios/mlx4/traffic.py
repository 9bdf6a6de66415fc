# SPDX-License-Identifier: GPL-2.0-only
# scenario: kernel traffic between two HCAs; one of them leaves under it in each way and comes back
# kernel: 6.12 6.1 debug
# hcas: 2
# fabric: two
# modules: ours
# qemu: -global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off
# limit: 900
# alone: yes
"""UD and RC traffic with a check of every byte, and a removal under it, drawn from the ways there are.

TRAFFIC_SEED chooses what is drawn, TRAFFIC_ROUNDS how often (20). tests/long/traffic.py has 200 of each way,
mlx4/reboot X6, suspend/traffic X7.
"""
import os

import kways


def scenario(t):
    rounds = int(os.environ.get('TRAFFIC_ROUNDS') or 20)
    kways.leave(t, kways.seed(), lambda ways, seed: kways.drawn(ways, seed, rounds))
