# SPDX-License-Identifier: GPL-2.0-only
"""Where the VM tests put what they have to show: folders for machines, and counted points."""
import os
import shutil
import threading
import time

import images

FOLDER = os.path.join(images.REPO, 'build', 'vm')
KEEP = 5                                             # runs whose output is kept


def _running(name):
    return os.path.exists('/proc/' + name.rsplit('-', 1)[-1])


def new_folder():
    """A new folder for this run; of the older ones the newest are kept, and those still in use."""
    name = time.strftime('%m%d-%H%M%S') + f'-{os.getpid()}'
    folder = os.path.join(FOLDER, name)
    os.makedirs(folder)
    old = sorted(f for f in os.listdir(FOLDER) if f[:4].isdigit() and not _running(f))
    for f in old[:-KEEP]:
        shutil.rmtree(os.path.join(FOLDER, f), ignore_errors=True)
    return folder


def relative(path):
    return os.path.relpath(path, images.REPO)


class Count:
    """Points of a test program: printed as they come, counted, closed with the usual line."""

    def __init__(self):
        self.passed = self.failed = 0
        self._lock = threading.Lock()

    def point(self, good, name, *notes):
        """A point; the notes are printed if it does not hold."""
        with self._lock:
            self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
            print(f'{"" if good else "not "}ok {self.passed + self.failed} - {name}', flush=True)
            for note in notes if not good else ():
                print(f'    # {note}', flush=True)

    def close(self):
        """The closing line; returns the exit status."""
        print(f'{self.passed} passed, {self.failed} failed', flush=True)
        return 0 if self.passed and not self.failed else 1
