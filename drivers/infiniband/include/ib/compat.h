/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The differences between the kernels this tree is built for, and nothing else.
 *
 * The sources are written in the spelling of 6.12; what 6.1 lacks or spells differently is
 * supplied here.  No other file looks at the kernel's version.
 */
#ifndef IB_COMPAT_H
#define IB_COMPAT_H

#include <linux/version.h>

#if KERNEL_VERSION(6, 1, 170) > LINUX_VERSION_CODE
#error "LastRef needs Linux 6.1.170 or newer (scope guards came to 6.1 by a stable update)"
#endif
#if KERNEL_VERSION(6, 13, 0) <= LINUX_VERSION_CODE
#error "LastRef has been tried on Linux 6.1 and 6.12 only"
#endif

#define IB_KERNEL_6_12 (KERNEL_VERSION(6, 12, 0) <= LINUX_VERSION_CODE)

#include <linux/device/class.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/sysctl.h>

/* Unaligned access moved out of asm/. */
#if IB_KERNEL_6_12
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/*
 * Callbacks of the driver core whose device argument became const.  Write
 * "static char *x_devnode(ib_const_device *dev, umode_t *mode)".
 */
#if IB_KERNEL_6_12
#define ib_const_device const struct device
#else
#define ib_const_device struct device
#endif

/* A class knew its module before 6.4. */
#if IB_KERNEL_6_12
#define ib_class_create(name) class_create(name)
#else
#define ib_class_create(name) class_create(THIS_MODULE, name)
#endif

/* A trace event's string was named twice before 6.10. Give field and string. */
#if IB_KERNEL_6_12
#define ib_assign_str_1(field, ...) __assign_str(field)
#define ib_assign_str(...) ib_assign_str_1(__VA_ARGS__)
#else
#define ib_assign_str(...) __assign_str(__VA_ARGS__)
#endif

/* Before 6.3 a devlink instance did not say by its operations alone that it can be reloaded. */
#if IB_KERNEL_6_12
struct devlink;
static inline void ib_devlink_may_reload(struct devlink *devlink)
{
}
#else
#define ib_devlink_may_reload(devlink) devlink_set_features(devlink, DEVLINK_F_RELOAD)
#endif

/* The user interface of 6.12 has notifications of devices that come and go. */
#define IB_NLDEV_HAS_MONITOR IB_KERNEL_6_12

#if !IB_KERNEL_6_12
#ifndef PCI_IRQ_INTX
#define PCI_IRQ_INTX PCI_IRQ_LEGACY
#endif

static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif /* !IB_KERNEL_6_12 */

#endif /* IB_COMPAT_H */
