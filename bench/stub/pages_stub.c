// SPDX-License-Identifier: GPL-2.0
/*
 * The least that a device can do for a direct mapping: a /dev/pages that always
 * returns the same page. What a mapping costs here is the price of mmap() and
 * munmap() themselves; what the real device costs on top of it is its own.
 *
 * To be timed and for nothing else. One mapping at a time: mm/nommu.c stops the
 * kernel (BUG) when it is given memory that is mapped already.
 */
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>

#ifdef CONFIG_MMU
#error "There is nothing to compare with on a kernel with an MMU"
#endif

static unsigned long stub_page;

static unsigned int stub_mmap_capabilities(struct file *file)
{
	return NOMMU_MAP_DIRECT | NOMMU_MAP_READ | NOMMU_MAP_WRITE;
}

static unsigned long stub_get_unmapped_area(struct file *file,
					    unsigned long addr,
					    unsigned long len,
					    unsigned long pgoff,
					    unsigned long flags)
{
	return len == PAGE_SIZE ? stub_page : -EINVAL;
}

/* As nommu/vma.rs does it, so that both mappings are of the same kind. */
static int stub_mmap(struct file *file, struct vm_area_struct *vma)
{
	vma->vm_region->vm_flags &= ~(VM_SHARED | VM_MAYSHARE | VM_MAYOVERLAY);
	return 0;
}

static const struct file_operations stub_fops = {
	.owner = THIS_MODULE,
	.mmap = stub_mmap,
	.get_unmapped_area = stub_get_unmapped_area,
	.mmap_capabilities = stub_mmap_capabilities,
};

static struct miscdevice stub_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "pages",
	.fops = &stub_fops,
	.mode = 0600,
};

static int __init stub_init(void)
{
	int err;

	stub_page = get_zeroed_page(GFP_KERNEL);
	if (!stub_page)
		return -ENOMEM;
	err = misc_register(&stub_device);
	if (err)
		free_page(stub_page);
	return err;
}
module_init(stub_init);

static void __exit stub_exit(void)
{
	misc_deregister(&stub_device);
	free_page(stub_page);
}
module_exit(stub_exit);

MODULE_DESCRIPTION("/dev/pages that always returns the same page");
MODULE_LICENSE("GPL");
