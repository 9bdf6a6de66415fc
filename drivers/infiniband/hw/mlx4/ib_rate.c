// SPDX-License-Identifier: GPL-2.0-only
/*
 * Static rates: how fast a path may be sent to (IBA 9.11).
 *
 * The HCA tells which rates it can hold back to by one bit for each of its codes, and has codes for
 * 2.5 to 40 Gb/s only.  A path as fast as the port needs no holding back, so a port of 56 Gb/s is
 * not to be made one of 40 by the largest code that there is.
 */
#include "mlx4_ib.h"

/* Of the rates of the HCA, the fastest that is not faster; else the slowest that there is. */
static u8 code_of(u16 rates, u16 wanted)
{
	u8 best = 0, slowest = 0;
	unsigned int code;

	for (code = MLX4_RATE_OFFSET + 1; code < BITS_PER_TYPE(rates); code++) {
		u16 rate = ib_rate(code - MLX4_RATE_OFFSET);

		if (!rate || !(rates & BIT(code)))
			continue;
		if (rate <= wanted && (!best || rate > ib_rate(best - MLX4_RATE_OFFSET)))
			best = code;
		if (!slowest || rate < ib_rate(slowest - MLX4_RATE_OFFSET))
			slowest = code;
	}
	return best ?: slowest;
}

u8 mlx4_ib_rate(struct mlx4_ib_dev *dev, u8 port, u8 rate)
{
	struct ib_port_attr attr;
	u16 link = 0;

	if (!ib_port_cached(&dev->ib, port, &attr))
		link = ib_link_rate(&attr);
	if (!ib_rate(rate) || (link && ib_rate(rate) >= link))
		return 0;
	return code_of(dev->core->caps.rates, ib_rate(rate));
}
