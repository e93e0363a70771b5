// SPDX-License-Identifier: GPL-2.0

//! Owned runs of adjacent page frames.
//!
//! C headers: [`include/linux/gfp.h`](srctree/include/linux/gfp.h),
//! [`include/linux/mm.h`](srctree/include/linux/mm.h)

use super::{
    join,
    reserve::Reserve, //
};
use core::{
    ops::Range,
    ptr::NonNull, //
};
use kernel::{
    bindings,
    page::PAGE_SHIFT,
    prelude::*,
    sync::Arc, //
};

/// Largest order that the page allocator serves.
pub(super) const MAX_ORDER: u32 = bindings::MAX_PAGE_ORDER;

/// Pages in the largest block of the page allocator.
pub(crate) const MAX_BLOCK_PAGES: usize = 1 << MAX_ORDER;

/// Longest run that can be asked for, in pages: its length in bytes is an `isize`.
pub(crate) const MAX_RUN_PAGES: usize = isize::MAX as usize >> PAGE_SHIFT;

/// How runs are asked for: for a user, without a warning, a retry storm or an OOM kill. A run that
/// is not there is an ordinary `ENOMEM` for the one who asked.
const GFP_RUN: bindings::gfp_t = bindings::GFP_KERNEL
    | bindings::__GFP_NOWARN
    | 1 << bindings::___GFP_HARDWALL_BIT
    | 1 << bindings::___GFP_NORETRY_BIT;

/// A run of physically adjacent page frames, page-aligned, mapped at its physical address.
///
/// The contents are whatever was left there. Dropping the run frees it.
///
/// # Invariants
///
/// - `base` is page-aligned and `pages` is from 1 to [`MAX_RUN_PAGES`].
/// - The `pages` page frames from `base` on are owned by this value. User space may read and write
///   them at any time while they are mapped, and the kernel on its behalf, so no Rust reference to
///   the contents is ever made. Nobody pins them: the VMAs that map them have `VM_PFNMAP` set.
/// - They are held as `holding` says.
pub(crate) struct PageRun {
    base: NonNull<u8>,
    pages: usize,
    holding: Holding,
}

/// Who a run goes back to, and in which pieces.
enum Holding {
    /// The page allocator, in the layout that [`Layout::of`] gives for the length.
    Blocks,
    /// The page allocator, page by page.
    Singles,
    /// A reserve.
    Reserve(Arc<Reserve>),
}

// SAFETY: A run is plain memory that belongs to its owner; any thread may free or clear it.
unsafe impl Send for PageRun {}
// SAFETY: A shared reference gives away the address and the length only.
unsafe impl Sync for PageRun {}

/// How the page allocator holds a run: what has to be given back in one piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Layout {
    /// One block of `1 << order` pages.
    Block { order: u32 },
    /// Single pages, as `alloc_pages_exact()` leaves them.
    Exact,
    /// Adjacent blocks of [`MAX_BLOCK_PAGES`], then `tail` single pages.
    Joined { blocks: usize, tail: usize },
}

impl Layout {
    /// The layout of a run of `pages` pages.
    ///
    /// A power of two is one block, because freeing it is one step instead of one for each page.
    pub(super) const fn of(pages: usize) -> Self {
        if pages > MAX_BLOCK_PAGES {
            Self::Joined {
                blocks: pages >> MAX_ORDER,
                tail: pages & (MAX_BLOCK_PAGES - 1),
            }
        } else if pages.is_power_of_two() {
            Self::Block {
                order: pages.trailing_zeros(),
            }
        } else {
            Self::Exact
        }
    }
}

impl PageRun {
    /// Takes a run of exactly `pages` pages from the page allocator.
    ///
    /// May sleep.
    ///
    /// # Errors
    ///
    /// - `EINVAL`: `pages` is zero or above [`MAX_RUN_PAGES`].
    /// - `ENOMEM`: there is no such run. Nothing is logged.
    /// - `EINTR`: a fatal signal arrived while blocks were joined.
    pub(crate) fn new(pages: usize) -> Result<Self> {
        if pages == 0 || pages > MAX_RUN_PAGES {
            return Err(EINVAL);
        }
        let base = match Layout::of(pages) {
            Layout::Block { order } => alloc_block(order).ok_or(ENOMEM)?,
            Layout::Exact => {
                // SAFETY: `alloc_pages_exact()` accepts any size; this one has an order of at most
                // `MAX_ORDER`, above which it would warn.
                let virt =
                    unsafe { bindings::alloc_pages_exact_noprof(pages << PAGE_SHIFT, GFP_RUN) };
                NonNull::new(virt.cast()).ok_or(ENOMEM)?
            }
            Layout::Joined { blocks, tail } => join::alloc_joined(blocks, tail)?,
        };
        // INVARIANT: The memory was just allocated in the layout for `pages`, nobody else has it,
        // and all three sources return page-aligned addresses.
        Ok(Self {
            base,
            pages,
            holding: Holding::Blocks,
        })
    }

    /// A run that belongs to a reserve.
    ///
    /// # Safety
    ///
    /// The `pages` pages from `base` on must lie within the memory of `reserve`, which has given
    /// them to the caller and to nobody else. `base` must be page-aligned, and `pages` not zero.
    pub(super) unsafe fn from_reserve(
        reserve: Arc<Reserve>,
        base: NonNull<u8>,
        pages: usize,
    ) -> Self {
        // INVARIANT: By the requirements of this function. The length is below that of the reserve,
        // which is a run itself.
        Self {
            base,
            pages,
            holding: Holding::Reserve(reserve),
        }
    }

    /// Whether this run belongs to a reserve.
    #[inline]
    pub(crate) fn is_reserved(&self) -> bool {
        matches!(self.holding, Holding::Reserve(_))
    }

    /// Whether the run can be cut behind its first `pages` pages.
    ///
    /// Up to the largest block every place will do; a longer run can be cut between its blocks. A
    /// part of a reserve stays as it is.
    pub(crate) fn can_split_at(&self, pages: usize) -> bool {
        pages > 0
            && pages < self.pages
            && match self.holding {
                Holding::Blocks => self.pages <= MAX_BLOCK_PAGES || pages % MAX_BLOCK_PAGES == 0,
                Holding::Singles => true,
                Holding::Reserve(_) => false,
            }
    }

    /// Cuts the run behind its first `pages` pages and returns what follows, or [`None`], and
    /// nothing happens, where [`Self::can_split_at`] forbids it.
    pub(crate) fn split_off(&mut self, pages: usize) -> Option<Self> {
        if !self.can_split_at(pages) {
            return None;
        }
        let rest_pages = self.pages - pages;
        let (holding, rest_holding) = match (&self.holding, Layout::of(self.pages)) {
            (Holding::Blocks, Layout::Joined { .. }) => {
                // Whole blocks stay in front. What follows has the layout of its own length, unless
                // it is nothing but the tail.
                let rest = if rest_pages < MAX_BLOCK_PAGES {
                    Holding::Singles
                } else {
                    Holding::Blocks
                };
                (Holding::Blocks, rest)
            }
            (Holding::Blocks, Layout::Block { order }) => {
                // SAFETY: By the type invariants this is one block of that order, owned by `self`.
                unsafe { split_block(self.base, order) };
                (Holding::Singles, Holding::Singles)
            }
            _ => (Holding::Singles, Holding::Singles),
        };
        // SAFETY: `pages` is below the length of the run.
        let base = unsafe { self.base.add(pages << PAGE_SHIFT) };
        // INVARIANT: The two share the memory that `self` owned, and hold it as was just found.
        self.pages = pages;
        self.holding = holding;
        Some(Self {
            base,
            pages: rest_pages,
            holding: rest_holding,
        })
    }

    /// Number of pages.
    #[inline]
    pub(crate) fn pages(&self) -> usize {
        self.pages
    }

    /// Pointer to the first byte.
    pub(super) fn as_ptr(&self) -> NonNull<u8> {
        self.base
    }

    /// Address of the first byte: physical, kernel and user address alike.
    #[inline]
    pub(super) fn base(&self) -> usize {
        self.base.as_ptr() as usize
    }

    /// Fills the pages `range` of this run with zeros, the fastest way that the CPU has.
    ///
    /// The part of `range` that lies outside of the run is left out. Does not sleep.
    #[inline]
    pub(crate) fn clear(&mut self, range: Range<usize>) {
        // SAFETY: `self` owns the run.
        unsafe { self.raw().clear(range) };
    }

    /// Where the run is, for those who know otherwise that it stays.
    #[inline]
    pub(super) fn raw(&self) -> RawRun {
        RawRun {
            base: self.base,
            pages: self.pages,
        }
    }
}

/// Where a run is. It does not own it.
///
/// # Invariants
///
/// `base` and `pages` are those of a [`PageRun`] that existed when this was made.
#[derive(Clone, Copy)]
pub(super) struct RawRun {
    base: NonNull<u8>,
    pages: usize,
}

impl RawRun {
    /// Number of pages.
    #[inline]
    pub(super) fn pages(self) -> usize {
        self.pages
    }

    /// Fills the pages `range` with zeros. The part that lies outside of the run is left out.
    ///
    /// # Safety
    ///
    /// The run must still exist, and no other kernel code may use its contents meanwhile.
    #[inline]
    pub(super) unsafe fn clear(self, range: Range<usize>) {
        let end = range.end.min(self.pages);
        if range.start >= end {
            return;
        }
        // SAFETY: The start of the range is below `self.pages`, so the result is within the run,
        // whose length fits an `isize` by the invariants of `PageRun`.
        let first = unsafe { self.base.add(range.start << PAGE_SHIFT) };
        // SAFETY: The pages belong to the run, and are page-aligned since `base` is.
        unsafe { clear_pages(first, end - range.start) };
    }
}

impl Drop for PageRun {
    fn drop(&mut self) {
        match (&self.holding, Layout::of(self.pages)) {
            (Holding::Reserve(reserve), _) => {
                // SAFETY: By the type invariants this run was lent by that reserve.
                unsafe { reserve.put(self.base) };
            }
            (Holding::Singles, _) | (Holding::Blocks, Layout::Exact) => {
                // SAFETY: By the type invariants these are single pages, owned by `self`.
                unsafe { free_exact(self.base, self.pages) };
            }
            (Holding::Blocks, Layout::Block { order }) => {
                // SAFETY: By the type invariants this is one block of that order, owned by `self`.
                unsafe { free_block(self.base, order) };
            }
            (Holding::Blocks, Layout::Joined { blocks, tail }) => {
                // SAFETY: By the type invariants these are whole blocks of the largest order, then
                // single pages, owned by `self`.
                unsafe { join::free_joined(self.base, blocks, tail) };
            }
        }
    }
}

/// Takes one block of `1 << order` pages, or [`None`] if there is none or `order` is above
/// [`MAX_ORDER`].
pub(super) fn alloc_block(order: u32) -> Option<NonNull<u8>> {
    if order > MAX_ORDER {
        return None;
    }
    // SAFETY: The page allocator may be called with any flags that sleep from process context, and
    // with an order up to `MAX_ORDER`.
    let virt = unsafe { bindings::get_free_pages_noprof(GFP_RUN, order) };
    NonNull::new(virt as *mut u8)
}

/// Gives back a block.
///
/// # Safety
///
/// `base` must be a block of `1 << order` pages from the page allocator, owned by the caller, who
/// must not use it afterwards.
pub(super) unsafe fn free_block(base: NonNull<u8>, order: u32) {
    // SAFETY: By the requirements of this function.
    unsafe { bindings::free_pages(base.as_ptr() as usize, order) };
}

/// Turns a block into single pages.
///
/// # Safety
///
/// `base` must be a block of `1 << order` pages from the page allocator, owned by the caller.
pub(super) unsafe fn split_block(base: NonNull<u8>, order: u32) {
    // SAFETY: On nommu `vmalloc_to_page()` is `virt_to_page()` (mm/nommu.c), which is valid for the
    // address of a block of the page allocator.
    let page = unsafe { bindings::vmalloc_to_page(base.as_ptr().cast()) };
    // SAFETY: `page` is the first page of a non-compound block of this order, with one reference,
    // which the caller owns.
    unsafe { bindings::split_page(page, order) };
}

/// Gives back single pages.
///
/// # Safety
///
/// The `pages` pages from `base` on must be single pages (of `alloc_pages_exact()` or
/// `split_page()`) owned by the caller, who must not use them afterwards.
pub(super) unsafe fn free_exact(base: NonNull<u8>, pages: usize) {
    // SAFETY: By the requirements of this function; `free_pages_exact()` frees page by page.
    unsafe { bindings::free_pages_exact(base.as_ptr().cast(), pages << PAGE_SHIFT) };
}

/// Clears pages: by `clear_page()` where the CPU has Zicboz, whose `cbo.zero` clears a block at a
/// time (`arch/riscv/lib/clear_page.S`), else all in one.
///
/// # Safety
///
/// `first` must be page-aligned, and valid for writes of `pages` pages.
#[inline]
unsafe fn clear_pages(first: NonNull<u8>, pages: usize) {
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
