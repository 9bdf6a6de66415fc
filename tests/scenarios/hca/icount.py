# SPDX-License-Identifier: GPL-2.0-only
# scenario: under -icount two runs of one workload are equal, to the instruction
# kernel: 6.12
# hcas: 1
# fabric: none
# cpus: 1
# limit: 600
# alone: yes
"""In-tree mlx4 is loaded, used and unloaded in a machine of its own: one CPU, everything in its first file system,
no disk, no console input, nothing asked before the end. SeaBIOS, not qboot: with that one boots differ."""
import os
import socket
import subprocess
import time

import images
import qmp

# The fifth MAD_IFC answers 20 ms late: a fault script is as much part of a run as the workload.
SCRIPT = ',faults=cmd:0x24+nth=5+delay=20000000'
MODULES = ('mlx4_core', 'mlx4_ib', 'ib_umad', 'ib_uverbs', 'ib_ipoib')
ICOUNT = ('-icount', 'shift=3,sleep=off', '-seed', '1',
          '-rtc', 'base=2024-01-01T00:00:00,clock=vm', '-cpu', 'max,rdrand=off,rdseed=off')


def load_order(kern):
    """The modules and what they need, in the order in which they can be loaded."""
    needs = {}
    with open(os.path.join(kern.modules, 'modules.dep'), encoding='utf-8') as text:
        for line in text:
            path, _, rest = line.partition(':')
            needs[os.path.basename(path).split('.')[0]] = [path] + rest.split()
    order = []
    for name in MODULES:
        for path in reversed(needs[name]):
            if path not in order:
                order.append(path)
    return order


def first_file_system(folder, kern):
    archive = images.Cpio(os.path.join(folder, 'icount.cpio'))
    archive.add_file('bin/busybox', '/bin/busybox')
    names = []
    for path in load_order(kern):
        names.append(os.path.basename(path).split('.')[0])
        archive.add(f'm/{names[-1]}.ko', images.module_bytes(os.path.join(kern.modules, path)))
    for name in ('proc', 'sys', 'dev'):
        archive.folder(name)
    b = '/bin/busybox'
    archive.add('work', '\n'.join([
        f'{b} mount -t proc p /proc', f'{b} mount -t sysfs s /sys',
        *(f'{b} insmod /m/{n}.ko' for n in names),
        f'{b} cat /sys/class/infiniband/mlx4_0/ports/*/gids/0 /sys/class/infiniband/mlx4_0/hw_counters/*',
        *(f'{b} rmmod {n}' for n in reversed(names)),
        f'{b} echo WORK-DONE', f'{b} poweroff -f', '']).encode())
    archive.close()
    return os.path.join(folder, 'icount.cpio')


def run(t, kern, initrd, number, extra=''):
    """One run: console, log of the HCA, its counts, what is left in it, seconds of CPU that QEMU took."""
    base = os.path.join(t.stage.folder, f'icount{number}')
    path = f'/tmp/lastref-{os.getpid()}-icount'
    line = ['qemu-system-x86_64', '-M', 'q35', '-smp', '1', '-accel', 'tcg,thread=single', '-m', '512M',
            *ICOUNT, '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot', '-no-shutdown',
            '-serial', f'file:{base}.console', '-qmp', f'unix:{path},server=on,wait=off',
            '-kernel', kern.vmlinux, '-initrd', initrd, '-append',
            'console=ttyS0 panic=-1 quiet nokaslr mitigations=off tsc=reliable no_timer_check '
            'initcall_blacklist=jent_mod_init rdinit=/bin/busybox -- sh /work',
            '-plugin', f'file={t.stage.hcas.plugin}', '-device', 'cx3-root-port,id=rp0,slot=1,chassis=1',
            '-device', f'cx3-hca,id=hca,bus=rp0,port1=a,port2=a,log={base}.log,log-commands=on{SCRIPT}{extra}']
    with subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as child:
        try:
            return finish(child, base, path)
        finally:
            child.kill()


def finish(child, base, path):
    end = time.monotonic() + 280
    text = ''
    while 'reboot: Power down' not in text and time.monotonic() < end and child.poll() is None:
        time.sleep(0.5)
        try:
            with open(f'{base}.console', encoding='utf-8', errors='replace') as console:
                text = console.read()
        except OSError:
            pass
    time.sleep(1)
    with open(f'/proc/{child.pid}/stat', encoding='ascii') as stat:
        cpu = sum(int(x) for x in stat.read().rsplit(')', 1)[1].split()[11:13]) / os.sysconf('SC_CLK_TCK')
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(path)
    monitor = qmp.Qmp(sock)
    counts, audit = (monitor.command('qom-get', path='/machine/peripheral/hca', property=what)
                     for what in ('counts', 'audit'))
    monitor.close()
    os.unlink(path)
    with open(f'{base}.log', encoding='utf-8') as log:
        return text, log.read(), counts, audit, cpu


def scenario(t):
    kern = images.kernel('6.12')
    initrd = first_file_system(t.stage.folder, kern)
    runs = [run(t, kern, initrd, n) for n in (1, 2)]
    text, log, counts, audit, cpu = runs[0]
    t.ok('WORK-DONE' in text, 'the workload ran to its end', text[-800:])
    t.ok('icount=' in log and 'UNMAP_FA' in log, 'the log has every command with its instruction count', log[-400:])
    t.ok('cmd.MAD_IFC ' in counts, 'the counts can be read afterwards', counts)
    t.equal(log.count('fault: '), 1, 'the fault that was given at the start struck once')
    t.equal(audit, '', 'nothing is left in the HCA')
    t.ok(runs[1][1] == log, 'the second run gives the same log, to the instruction',
         next((f'{a}\n{b}' for a, b in zip(log.splitlines(), runs[1][1].splitlines()) if a != b), 'length'))
    t.equal(runs[1][2], counts, 'and the same counts')
    lax = run(t, kern, initrd, 3, ',strict=off')
    t.ok(lax[1] == log and lax[2] == counts, 'without strict mode the guest does exactly the same')
    t.note(f'cost of strict mode: {cpu:.1f} and {runs[1][4]:.1f} s of CPU with it, {lax[4]:.1f} s without')
    t.note(f'instructions up to the last command: {log.splitlines()[-1].split()[1]}')
