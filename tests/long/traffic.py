# SPDX-License-Identifier: GPL-2.0-only
# scenario: kernel traffic between two HCAs; one of them leaves under it 200 times in each way
# kernel: 6.12
# hcas: 2
# fabric: two
# modules: ours
# qemu: -global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off
# limit: 20000
# alone: yes
"""What mlx4/traffic draws 20 times, 200 times for each way (TRAFFIC_ROUNDS), or for those in TRAFFIC_WAYS."""
import os

import kways


def scenario(t):
    rounds = int(os.environ.get('TRAFFIC_ROUNDS') or 200)
    names = (os.environ.get('TRAFFIC_WAYS') or '').split()
    kways.leave(t, kways.seed(), lambda ways, seed: kways.of_each(ways, seed, rounds, names))
