# SPDX-License-Identifier: GPL-2.0-only
"""Suspend-to-RAM of a machine, and the part of its firmware that is missing on the way back.

SeaBIOS 1.16 sets up the power management of a PIIX4 again after a sleep, that of q35's ICH9 not: its
PMBASE and ACPI enable bit stay at their reset values. The kernel then reads all ones where the ACPI
registers were, takes the next sleep for over as soon as it begins, and never hears of ACPI again. So the
harness keeps both registers (ICH9 datasheet, LPC bridge, offsets 40h and 44h) and SCI_EN over the sleep.

QEMU 7.2 breaks the other half: with a thread for each of several CPUs its TCG loses the first CPU's flags on
the way back (bits of pointers appear in EFLAGS, TF among them; the kernel then single-steps, or dies and the
machine is reset). About every third wake of an idle machine ended so, with one CPU or with CPUs that take
turns none of 36. Hence thread=single for machines of `image: bzImage`, which are the ones that sleep.
"""

KEEP = 'setpci -s 00:1f.0 40.l 44.b'
RESTORE = '''setpci -s 00:1f.0 40.l=%s 44.b=%s
python3 -c 'import os; os.pwrite(os.open("/dev/port", os.O_RDWR), b"\\1", (0x%s & 0xff80) + 4)' '''


def to_ram(vm, asleep=None, limit=60):
    """Sleep, call asleep(), wake; returns what went wrong, '' if nothing did."""
    if vm.spec.image != 'bzImage':
        return 'only a machine of `image: bzImage` comes back from a sleep'
    kept = vm.sh(KEEP).out.split()
    mark = vm.qmp.mark()
    job = vm.start_sh('echo mem >/sys/power/state')
    if not vm.qmp.wait_event('SUSPEND', mark, limit):
        return f'it does not sleep: {job.wait(limit).err or "but says so"}'
    if asleep:
        asleep()
    vm.qmp.command('system_wakeup')
    if not vm.qmp.wait_event('WAKEUP', mark, limit):
        return 'it does not wake'
    done = job.wait(limit)
    vm.sh(RESTORE % (kept[0], kept[1], kept[0]))
    return '' if done.status == 0 else f'exit status {done.status}: {done.err}'
