# SPDX-License-Identifier: GPL-2.0-only
# scenario: two machines run at a time, with QMP, files and logs of their own
# kernel: 6.12
# cpus: 1
# vms: 2
"""The harness itself: what a scenario in Python may use."""
import hashlib


def scenario(t):
    one, two = t.vms
    jobs = [vm.start_sh('read line && echo "$line" && exit 7') for vm in t.vms]
    for job, word in zip(jobs, (b'first\n', b'second\n')):
        job.stdin(word)
    done = [job.wait() for job in jobs]
    t.equal([d.out for d in done], ['first\n', 'second\n'], 'each guest reads its own input')
    t.equal([d.status for d in done], [7, 7], 'exit statuses come back')
    data = bytes(range(256)) * 1024
    one.put(data, '/tmp/data')
    t.equal(one.sh('md5sum </tmp/data').out.split()[0], hashlib.md5(data).hexdigest(),
            'a file arrives as it was')
    folder = two.share()
    two.sh('echo from the guest >/share/note')
    with open(f'{folder}/note', encoding='utf-8') as text:
        t.equal(text.read(), 'from the guest\n', 'a shared folder goes both ways')
    t.equal(one.qmp.command('query-status')['status'], 'running', 'QMP answers')
    job = one.start_sh('sleep 1000')
    job.kill()
    t.equal(job.wait(20).status, 137, 'a command can be killed')
    one.say('lastref: a word from user space, BUG: not counted')
    t.ok(one.log.wait_line('not counted', 0, 20), 'the kernel log is streamed')
