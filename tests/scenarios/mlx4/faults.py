# SPDX-License-Identifier: GPL-2.0-only
# scenario: each firmware command that fails in our mlx4_core's probe or removal ends cleanly
# kernel: 6.12
# hcas: 1
# fabric: one
# modules: ours
# limit: 300
"""One command fails, is never answered, or takes the HCA away; the driver ends, the next probe works."""
HCA = '/machine/peripheral/hca0'

# Commands of a probe, in their order.
PROBE = (('QUERY_FW', 0x004), ('MAP_FA', 0xfff), ('RUN_FW', 0xff6), ('QUERY_DEV_CAP', 0x003),
         ('QUERY_PORT', 0x043), ('SET_ICM_SIZE', 0xffd), ('MAP_ICM_AUX', 0xffc), ('MAP_ICM', 0xffa),
         ('INIT_HCA', 0x007), ('QUERY_ADAPTER', 0x006), ('SW2HW_EQ', 0x013), ('MAP_EQ', 0x012),
         ('CONF_SPECIAL_QP', 0x023), ('MAD_IFC', 0x024), ('SET_PORT', 0x00c))
# What a removal sends.
REMOVAL = (('CLOSE_PORT', 0x00a), ('HW2SW_EQ', 0x014), ('CLOSE_HCA', 0x008),
           ('UNMAP_ICM', 0xff9), ('UNMAP_ICM_AUX', 0xffb), ('UNMAP_FA', 0xffe))
INTERNAL_ERROR = 0x01


def fault(t, rule):
    t.vm.qmp.command('qom-set', path=HCA, property='fault', value=rule)


def audit(t):
    return t.vm.qmp.command('qom-get', path=HCA, property='audit')


def is_bound(t):
    return t.vm.sh('ls -d /sys/bus/pci/drivers/mlx4_core/0* 2>/dev/null | wc -l').out.strip() == '1'


def probe_fails(t, name, rule):
    """The probe fails, and neither the driver nor the HCA keeps anything.

    An HCA that does not answer is not asked to give anything back: it is cut off from memory and reset.
    """
    fault(t, rule)
    t.vm.sh('modprobe mlx4_ib')
    t.ok(not is_bound(t), f'the probe fails when {name}')
    t.equal(audit(t), '', f'the HCA holds nothing after {name}')
    t.vm.sh('rmmod mlx4_ib mlx4_core')


def probe_works(t, after):
    t.vm.sh('modprobe mlx4_ib')
    t.ok(is_bound(t), f'the next probe works after {after}')


def removal_ends(t, name, rule):
    """The removal returns in time, and the HCA can be used again."""
    fault(t, rule)
    start = float(t.vm.sh('cut -d" " -f1 /proc/uptime').out)
    t.vm.sh('rmmod mlx4_ib mlx4_core', limit=60)
    took = float(t.vm.sh('cut -d" " -f1 /proc/uptime').out) - start
    t.ok(took <= 15, f'the removal ends within 15 s of guest time when {name}', f'{took:.1f} s')
    t.equal(audit(t), '', f'the HCA holds nothing when {name}')
    probe_works(t, name)
    t.equal(t.stage.hcas.violations(), [], f'no violation of the HCA after {name}')


def scenario(t):
    for name, opcode in PROBE:
        probe_fails(t, f'{name} fails', f'cmd:{opcode:#x} status={INTERNAL_ERROR:#x}')
    probe_fails(t, 'QUERY_DEV_CAP is never answered', 'cmd:0x3 silent')
    probe_works(t, 'all these')
    for name, opcode in REMOVAL:
        removal_ends(t, f'{name} fails', f'cmd:{opcode:#x} status={INTERNAL_ERROR:#x}')
    removal_ends(t, 'HW2SW_EQ is never answered', 'cmd:0x14 silent')
    t.vm.sh('rmmod mlx4_ib mlx4_core')
    t.equal(audit(t), '', 'the HCA holds nothing at the end')
