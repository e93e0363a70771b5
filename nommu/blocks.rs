// SPDX-License-Identifier: GPL-2.0

//! Page frames that are taken from the page allocator in blocks and go back in other pieces.
//!
//! A block has one reference count, that of its first page, and goes back as it came. Here that is
//! taken away for as long as somebody has the block. Pages without a reference are called frozen in
//! `mm/`, and are all alike: it does not matter any more which block they came with. So runs can be
//! cut and joined anywhere, and go back in the largest blocks that fit into them, as
//! `free_contig_range()` does it on kernels that have it.
//!
//! C headers: [`include/linux/gfp.h`](srctree/include/linux/gfp.h),
//! [`include/linux/page_ref.h`](srctree/include/linux/page_ref.h)

use core::ptr::NonNull;
use kernel::{
    bindings,
    page::PAGE_SHIFT,
    prelude::*, //
};

/// Largest order that the page allocator serves.
pub(super) const MAX_ORDER: u32 = bindings::MAX_PAGE_ORDER;

/// How blocks are asked for: for a user, without a warning, a retry storm or an OOM kill. One that
/// is not there is an ordinary `ENOMEM` for the one who asked.
///
/// `__GFP_MOVABLE` says from which part of memory. Nothing is ever moved without an MMU, but the
/// page allocator keeps the kernel's records out of that part for as long as there are others. So
/// they do not end up in what odd sizes leave free between runs, where a single one of them would
/// keep the memory around it in pieces when the runs are gone. With an MMU that part must be able
/// to move.
const GFP_BLOCK: bindings::gfp_t = bindings::GFP_KERNEL
    | bindings::__GFP_NOWARN
    | 1 << bindings::___GFP_HARDWALL_BIT
    | 1 << bindings::___GFP_NORETRY_BIT
    | (!cfg!(CONFIG_MMU) as bindings::gfp_t) << bindings::___GFP_MOVABLE_BIT;

/// Takes a block of `1 << order` pages, and freezes it. [`None`] if there is none or `order` is
/// above [`MAX_ORDER`].
pub(super) fn alloc(order: u32) -> Option<NonNull<u8>> {
    if order > MAX_ORDER {
        return None;
    }
    // SAFETY: The page allocator may be called with any flags that sleep from process context, and
    // with an order up to `MAX_ORDER`.
    let virt = unsafe { bindings::get_free_pages_noprof(GFP_BLOCK, order) };
    let block = NonNull::new(virt as *mut u8)?;
    // SAFETY: The block was just allocated. All pages but the first have no reference anyway.
    unsafe { set_page_count(block, 0) };
    Some(block)
}

/// Gives back `pages` frozen pages.
///
/// # Safety
///
/// The pages from `base` on must have come from [`alloc`], in whatever blocks, and be owned by the
/// caller, who must not use them afterwards.
pub(super) unsafe fn free(base: NonNull<u8>, pages: usize) {
    let mut block = base;
    let mut left = pages;
    while left > 0 {
        // SAFETY: By the requirements of this function.
        let aligned = unsafe { frame(block) }.trailing_zeros();
        let order = aligned.min(left.ilog2()).min(MAX_ORDER);
        // SAFETY: By the requirements of this function nobody else has this page.
        unsafe { set_page_count(block, 1) };
        // SAFETY: These are `1 << order` pages, aligned to as many. As the page allocator has it
        // for a block, the first has one reference and the others have none.
        unsafe { bindings::free_pages(block.addr().get(), order) };
        left -= 1 << order;
        // SAFETY: At most the end of the pages that were given.
        block = unsafe { block.add(1 << order << PAGE_SHIFT) };
    }
}

/// The number of a page frame: without an MMU addresses are physical.
///
/// # Safety
///
/// `virt` must be the address of a page of the page allocator.
#[cfg(not(CONFIG_MMU))]
#[inline(always)]
unsafe fn frame(virt: NonNull<u8>) -> usize {
    virt.addr().get() >> PAGE_SHIFT
}

/// The number of a page frame: `virt_to_pfn()`.
///
/// # Safety
///
/// `virt` must be the address of a page of the page allocator.
#[cfg(CONFIG_MMU)]
pub(super) unsafe fn frame(virt: NonNull<u8>) -> usize {
    // SAFETY: By the requirements of this function the page tables of the kernel, in which
    // `vmalloc_to_pfn()` looks (mm/vmalloc.c), map the page.
    unsafe { bindings::vmalloc_to_pfn(virt.as_ptr().cast()) }
}

/// `set_page_count()`.
///
/// # Safety
///
/// `virt` must be the address of a page of the page allocator that nobody but the caller has a
/// reference to.
unsafe fn set_page_count(virt: NonNull<u8>, count: c_int) {
    // SAFETY: On nommu `vmalloc_to_page()` is `virt_to_page()` (mm/nommu.c), which is valid for the
    // address of a page of the page allocator. Elsewhere it looks into the page tables of the
    // kernel (mm/vmalloc.c), which map all of these.
    let page = unsafe { bindings::vmalloc_to_page(virt.as_ptr().cast()) };
    // SAFETY: `page` is a valid `struct page`; only an address is taken.
    let counter = unsafe { &raw mut (*page)._refcount.counter };
    // SAFETY: As above. Others may look at the count at any time, as for the C function.
    unsafe { counter.write_volatile(count) };
}

/// Clears pages: by `clear_page()` where the CPU has Zicboz, whose `cbo.zero` clears a block at a
/// time (`arch/riscv/lib/clear_page.S`), else all in one.
///
/// # Safety
///
/// `first` must be page-aligned, and valid for writes of `pages` pages.
#[inline]
pub(super) unsafe fn clear(first: NonNull<u8>, pages: usize) {
    #[cfg(CONFIG_RISCV_ISA_ZICBOZ)]
    // SAFETY: The variable is set during boot and stays as it is; it is zero without Zicboz.
    if unsafe { bindings::riscv_cboz_block_size } != 0 {
        for page in 0..pages {
            // SAFETY: `page` is below `pages`.
            let page = unsafe { first.add(page << PAGE_SHIFT) };
            // SAFETY: By the requirements of this function.
            unsafe { bindings::clear_page(page.as_ptr().cast()) };
        }
        return;
    }
    // SAFETY: By the requirements of this function.
    unsafe { first.write_bytes(0, pages << PAGE_SHIFT) };
}
