# SPDX-License-Identifier: GPL-2.0-only
"""A machine whose console is this terminal."""
import os
import subprocess
import tempfile

from machine import Machine


class Interactive(Machine):

    def console(self):
        return ['-serial', 'mon:stdio']

    def talk(self):
        """Run QEMU until it ends; its standard streams are ours."""
        os.makedirs(os.path.join(self.folder, 'share'), exist_ok=True)
        with tempfile.TemporaryDirectory(prefix='lastref-vm-') as self._sockets:
            line = self.command_line('tcg,thread=multi')
            return subprocess.call(line)
