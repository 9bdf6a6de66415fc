// SPDX-License-Identifier: GPL-2.0-only
/*
 * Management datagrams for the device itself: the HCA's firmware answers them.
 */
#include <linux/bitfield.h>

#include "mad_layout.h"
#include "mlx4_ib.h"

/* Which of them the firmware can answer. */
static bool is_for_firmware(const void *mad)
{
	unsigned int method = mlx4_get(mad, MLX4_MAD_METHOD);

	switch (mlx4_get(mad, MLX4_MAD_CLASS)) {
	case MLX4_CLASS_SMP:
	case MLX4_CLASS_SMP_DIRECT:
		/* There is no SM in the HCA. */
		if (mlx4_get(mad, MLX4_MAD_ATTRIBUTE) == MLX4_ATTR_SM_INFO)
			return false;
		return method == MLX4_METHOD_GET || method == MLX4_METHOD_SET ||
		       method == MLX4_METHOD_REPRESS;
	case MLX4_CLASS_PERF:
	case MLX4_CLASS_VENDOR_9:
	case MLX4_CLASS_VENDOR_A:
	case MLX4_CLASS_CONGESTION:
		return method == MLX4_METHOD_GET || method == MLX4_METHOD_SET;
	default:
		return false;
	}
}

/* How it came, behind the MAD. */
static void put_origin(struct mlx4_call *call, const struct ib_mad_request *request)
{
	const struct ib_wc *wc = request->wc;
	void *box = call->in->buf;

	call->op_mod |= MLX4_MAD_IFC_ORIGIN;
	call->in_mod |= FIELD_PREP(MLX4_MAD_IFC_SLID, wc->slid);
	mlx4_put(box, MLX4_ORIGIN_QPN, wc->qp ? wc->qp->qpn : 0);
	mlx4_put(box, MLX4_ORIGIN_REMOTE_QPN, wc->src_qp);
	mlx4_put(box, MLX4_ORIGIN_SL, wc->sl);
	mlx4_put(box, MLX4_ORIGIN_PATH_BITS, wc->dlid_path_bits);
	mlx4_put(box, MLX4_ORIGIN_GRH_FLAG, !!(wc->flags & IB_WC_GRH));
	mlx4_put(box, MLX4_ORIGIN_PKEY_INDEX, wc->pkey_index);
	if (request->grh)
		memcpy(box + MLX4_ORIGIN_GRH, request->grh, MLX4_GRH_SIZE);
}

static int ask_firmware(struct mlx4_dev *core, const struct ib_mad_request *request, void *answer)
{
	struct mlx4_call call = { .op = MLX4_MAD_IFC };
	int err;

	call.in_mod = FIELD_PREP(MLX4_MAD_IFC_PORT, request->port);
	if (request->flags & IB_MAD_IGNORE_MKEY)
		call.op_mod |= MLX4_MAD_IFC_NO_MKEY;
	if (request->flags & IB_MAD_IGNORE_BKEY)
		call.op_mod |= MLX4_MAD_IFC_NO_BKEY;
	call.in = mlx4_mailbox_alloc(core);
	call.out = mlx4_mailbox_alloc(core);
	err = PTR_ERR_OR_ZERO(call.in) ?: PTR_ERR_OR_ZERO(call.out);
	if (!err) {
		memcpy(call.in->buf, request->mad, MLX4_MAD_SIZE);
		if (request->wc)
			put_origin(&call, request);
		err = mlx4_cmd(core, &call);
	}
	if (!err)
		memcpy(answer, call.out->buf, MLX4_MAD_SIZE);
	mlx4_mailbox_free(core, call.out);
	mlx4_mailbox_free(core, call.in);
	return err;
}

/* What the HCA does not tell by an event. */
static void see_answer(struct mlx4_ib_dev *dev, u8 port, const void *mad, const void *answer)
{
	unsigned int class = mlx4_get(mad, MLX4_MAD_CLASS);

	if ((class == MLX4_CLASS_SMP || class == MLX4_CLASS_SMP_DIRECT) &&
	    mlx4_get(mad, MLX4_MAD_METHOD) == MLX4_METHOD_SET &&
	    mlx4_get(mad, MLX4_MAD_ATTRIBUTE) == MLX4_ATTR_SL_TO_VL &&
	    !mlx4_get(answer, MLX4_MAD_STATUS))
		mlx4_ib_set_vls(dev, port, get_unaligned_be64(answer + MLX4_SMP_DATA));
}

enum ib_mad_result mlx4_ib_process_mad(struct ib_device *device,
				       const struct ib_mad_request *request, void *answer)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev(device);
	const void *mad = request->mad;
	int err;

	if (!is_for_firmware(mad) || !ib_device_has_port(device, request->port))
		return IB_MAD_NOTHING;
	err = ask_firmware(dev->core, request, answer);
	/* It refuses what is to be discarded in silence, such as packets with a wrong key. */
	if (err)
		return err == -EINVAL ? IB_MAD_CONSUMED : IB_MAD_NOTHING;
	if (mlx4_get(mad, MLX4_MAD_METHOD) == MLX4_METHOD_REPRESS)
		return IB_MAD_CONSUMED;
	see_answer(dev, request->port, mad, answer);
	if (mlx4_get(mad, MLX4_MAD_CLASS) == MLX4_CLASS_SMP_DIRECT)
		mlx4_put(answer, MLX4_MAD_STATUS,
			 mlx4_get(answer, MLX4_MAD_STATUS) | MLX4_MAD_STATUS_D);
	return IB_MAD_ANSWERED;
}

void mlx4_ib_set_vls(struct mlx4_ib_dev *dev, u8 port, u64 table)
{
	atomic64_set(&dev->sl_to_vl[port - 1], table);
}

int mlx4_ib_read_vls(struct mlx4_ib_dev *dev, u8 port)
{
	u8 data[MLX4_SMP_DATA_SIZE];
	int err;

	err = mlx4_smp_get(dev->core, port, MLX4_ATTR_SL_TO_VL, 0, data);
	if (!err)
		mlx4_ib_set_vls(dev, port, get_unaligned_be64(data));
	return err;
}
