// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions of the kernel (IBA 10.6): all of memory, or what a work request registers.
 */
#include <linux/export.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "objects.h"

#define IB_MR_PAGE_MIN 4096

static struct ib_mr *ib_mr_of(struct ib_object *object)
{
	return container_of(object, struct ib_mr, object);
}

static int ib_mr_take(const struct ib_verbs_ops *ops, struct ib_object *object)
{
	return ops->destroy_mr ? ops->destroy_mr(ib_mr_of(object)) : 0;
}

static void ib_mr_release(const struct ib_verbs_ops *ops, struct ib_object *object)
{
	if (ops->release_mr)
		ops->release_mr(ib_mr_of(object));
}

static void ib_mr_free(struct ib_object *object)
{
	kvfree(ib_mr_of(object)->pages);
}

static const struct ib_object_class ib_mr_class = {
	.name = "MR",
	.type = IB_OBJECT_MR,
	.numbered = true,
	.destroy = ib_mr_take,
	.release = ib_mr_release,
	.free = ib_mr_free,
};

static struct ib_mr *ib_mr_new(struct ib_pd *pd, enum ib_mr_type type)
{
	struct ib_object *object;

	object = ib_object_new(pd->object.attachment, &ib_mr_class, GFP_KERNEL);
	if (IS_ERR(object))
		return ERR_CAST(object);
	ib_mr_of(object)->pd = pd;
	ib_mr_of(object)->type = type;
	ib_object_parent(object, &pd->object);
	return ib_mr_of(object);
}

struct ib_mr *ib_mr_create_dma(struct ib_pd *pd, u32 access)
{
	struct ib_mr *mr = ib_mr_new(pd, IB_MR_DMA);
	int err;

	if (IS_ERR(mr))
		return mr;
	mr->length = U64_MAX;
	err = ib_object_make(&mr->object, GFP_KERNEL, ops->create_dma_mr, mr, access);
	return err ? ERR_PTR(err) : mr;
}
EXPORT_SYMBOL_GPL(ib_mr_create_dma);

struct ib_mr *ib_mr_create_fast(struct ib_pd *pd, u32 max_pages)
{
	u32 limit = ib_device_attr(ib_object_device(&pd->object))->max_fast_reg_page_list_len;
	struct ib_mr *mr;
	int err;

	if (!max_pages || max_pages > limit)
		return ERR_PTR(-EINVAL);
	mr = ib_mr_new(pd, IB_MR_FAST);
	if (IS_ERR(mr))
		return mr;
	mr->max_pages = max_pages;
	mr->pages = kvcalloc(max_pages, sizeof(*mr->pages), GFP_KERNEL);
	if (!mr->pages) {
		ib_object_put(&mr->object);
		return ERR_PTR(-ENOMEM);
	}
	err = ib_object_make(&mr->object, GFP_KERNEL, ops->create_fast_mr, mr);
	return err ? ERR_PTR(err) : mr;
}
EXPORT_SYMBOL_GPL(ib_mr_create_fast);

/**
 * struct ib_mr_cursor - where ib_mr_map() is
 * @mr: the region
 * @end: where the last piece ended, as the device counts
 * @mask: low bits of an address in a page
 */
struct ib_mr_cursor {
	struct ib_mr *mr;
	u64 end;
	u64 mask;
};

/*
 * Add the pages of one piece.  A hole is only possible at a page border: pieces in the middle begin
 * and end on one, or join with no gap.  Gives the bytes that found room.
 */
static u64 ib_mr_map_piece(struct ib_mr_cursor *c, u64 addr, u64 len)
{
	struct ib_mr *mr = c->mr;
	u64 room = len;
	u64 page;

	if (mr->npages && c->end != addr && ((c->end | addr) & c->mask))
		return 0;
	for (page = addr & ~c->mask; page < addr + len; page += c->mask + 1) {
		if (mr->npages && mr->pages[mr->npages - 1] == page && page < c->end)
			continue;
		if (mr->npages == mr->max_pages) {
			room = page > addr ? page - addr : 0;
			break;
		}
		mr->pages[mr->npages++] = page;
	}
	c->end = addr + room;
	mr->length += room;
	return room;
}

int ib_mr_map(struct ib_mr *mr, struct scatterlist *sg, int count, unsigned int *offset,
	      unsigned int page_size)
{
	struct ib_mr_cursor cursor = { .mr = mr, .mask = page_size - 1 };
	unsigned int skip = offset ? *offset : 0;
	struct scatterlist *entry;
	int i;

	if (mr->type != IB_MR_FAST || !is_power_of_2(page_size) || page_size < IB_MR_PAGE_MIN)
		return -EINVAL;
	if (count < 1 || skip >= sg_dma_len(sg))
		return -EINVAL;
	mr->npages = 0;
	mr->length = 0;
	mr->page_size = page_size;
	mr->iova = sg_dma_address(sg) + skip;
	for_each_sg(sg, entry, count, i) {
		u64 len = sg_dma_len(entry) - skip;
		u64 done = ib_mr_map_piece(&cursor, sg_dma_address(entry) + skip, len);

		if (done < len) {
			skip += done;
			break;
		}
		skip = 0;
	}
	if (offset)
		*offset = skip;
	return i;
}
EXPORT_SYMBOL_GPL(ib_mr_map);

void ib_mr_destroy(struct ib_mr *mr)
{
	ib_object_destroy(&mr->object);
}
EXPORT_SYMBOL_GPL(ib_mr_destroy);
