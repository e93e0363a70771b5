// SPDX-License-Identifier: GPL-2.0

//! Owned runs of adjacent page frames.

use super::{
    blocks,
    join,
    reserve::Reserve,
    system,
    task, //
};
use core::{
    mem::ManuallyDrop,
    ops::Range,
    ptr::NonNull, //
};
use kernel::{
    page::PAGE_SHIFT,
    prelude::*,
    sync::Arc, //
};

/// Pages in the largest block of the page allocator.
pub(super) const MAX_BLOCK_PAGES: usize = 1 << blocks::MAX_ORDER;

/// Pages that are cleared between two looks at the signals: 64 KiB of 4 KiB pages.
pub(crate) const CLEAR_STEP: usize = 16;

/// Longest run that can be asked for, in pages: its length in bytes is an `isize`.
pub(crate) const MAX_RUN_PAGES: usize = isize::MAX as usize >> PAGE_SHIFT;

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
/// - They were lent by `reserve`, or else are frozen pages of [`blocks`].
pub(crate) struct PageRun {
    base: NonNull<u8>,
    pages: usize,
    reserve: Option<Arc<Reserve>>,
}

// SAFETY: A run is plain memory that belongs to its owner; any thread may free or clear it.
unsafe impl Send for PageRun {}
// SAFETY: A shared reference gives away the address and the length only.
unsafe impl Sync for PageRun {}

impl PageRun {
    /// Takes a run of exactly `pages` pages from the page allocator.
    ///
    /// May sleep.
    ///
    /// # Errors
    ///
    /// - `EINVAL`: `pages` is zero or above [`MAX_RUN_PAGES`].
    /// - `ENOMEM`: there is no such run, or too little would be left for all others. Nothing is
    ///   logged.
    /// - `EINTR`: a fatal signal arrived while blocks were joined.
    pub(crate) fn new(pages: usize) -> Result<Self> {
        if pages == 0 || pages > MAX_RUN_PAGES {
            return Err(EINVAL);
        }
        let mut run = if pages <= MAX_BLOCK_PAGES {
            Self::of_block(pages.next_power_of_two().trailing_zeros())?
        } else {
            join::alloc_joined(pages)?
        };
        // What it has too much goes back.
        drop(run.split_off(pages));
        if system::enough_is_left() {
            Ok(run)
        } else {
            Err(ENOMEM)
        }
    }

    /// Takes a block of `1 << order` pages.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(super) fn of_block(order: u32) -> Result<Self> {
        let base = blocks::alloc(order).ok_or(ENOMEM)?;
        // INVARIANT: The block was just allocated, nobody else has it, it is frozen, and blocks are
        // aligned to their size.
        Ok(Self {
            base,
            pages: 1 << order,
            reserve: None,
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
            reserve: Some(reserve),
        }
    }

    /// Whether this run belongs to a reserve.
    #[inline]
    pub(crate) fn is_reserved(&self) -> bool {
        self.reserve.is_some()
    }

    /// Cuts the run behind its first `pages` pages and returns what follows. Returns [`None`], and
    /// nothing happens, where nothing would be left on one side; a part of a reserve stays as it
    /// is.
    pub(crate) fn split_off(&mut self, pages: usize) -> Option<Self> {
        if pages == 0 || pages >= self.pages || self.is_reserved() {
            return None;
        }
        // SAFETY: `pages` is below the length of the run.
        let base = unsafe { self.base.add(pages << PAGE_SHIFT) };
        let rest = self.pages - pages;
        // INVARIANT: The two share the frozen pages that `self` owned; both have at least one.
        self.pages = pages;
        Some(Self {
            base,
            pages: rest,
            reserve: None,
        })
    }

    /// Whether `next` begins where this run ends, and can become a part of it.
    pub(crate) fn touches(&self, next: &Self) -> bool {
        self.end() == next.base() && !self.is_reserved() && !next.is_reserved()
    }

    /// Makes one run of this and the one that follows it. Returns `next` where the two do not
    /// touch.
    pub(crate) fn join(&mut self, next: Self) -> Result<(), Self> {
        if !self.touches(&next) {
            return Err(next);
        }
        let next = ManuallyDrop::new(next);
        // INVARIANT: The frozen pages of `next` follow those of `self`, and belong to `self` now.
        // All are in memory, so the length is below `MAX_RUN_PAGES`.
        self.pages += next.pages;
        Ok(())
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
    pub(crate) fn base(&self) -> usize {
        self.base.as_ptr() as usize
    }

    /// Address behind the last byte.
    #[inline]
    pub(crate) fn end(&self) -> usize {
        self.base() + (self.pages << PAGE_SHIFT)
    }

    /// Number of the first page frame.
    #[cfg(CONFIG_MMU)]
    pub(super) fn frame(&self) -> usize {
        // SAFETY: By the type invariants the page belongs to the page allocator.
        unsafe { blocks::frame(self.base) }
    }

    /// Fills the pages `range` of this run with zeros, the fastest way that the CPU has.
    ///
    /// The part of `range` that lies outside of the run is left out. Does not sleep.
    #[inline]
    pub(crate) fn clear(&mut self, range: Range<usize>) {
        // SAFETY: `self` owns the run.
        unsafe { self.raw().clear(range) };
    }

    /// Clears the pages from `first` on, a step at a time, until the current task is being killed.
    /// Returns the first page that is not cleared, which is at least the length if all are.
    ///
    /// May sleep.
    pub(crate) fn clear_until_killed(&mut self, first: usize) -> usize {
        // SAFETY: `self` owns the run.
        unsafe { self.raw().clear_until_killed(first) }
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
    #[cfg(not(CONFIG_MMU))]
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
        unsafe { blocks::clear(first, end - range.start) };
    }

    /// Clears the pages from `first` on, as [`PageRun::clear_until_killed`] does.
    ///
    /// # Safety
    ///
    /// As for [`Self::clear`].
    pub(super) unsafe fn clear_until_killed(self, first: usize) -> usize {
        let mut next = first;
        loop {
            // SAFETY: By the requirements of this function.
            unsafe { self.clear(next..next + CLEAR_STEP) };
            next += CLEAR_STEP;
            if next >= self.pages || task::fatal_signal_pending() {
                return next;
            }
            task::cond_resched();
        }
    }
}

impl Drop for PageRun {
    fn drop(&mut self) {
        match &self.reserve {
            // SAFETY: By the type invariants this run was lent by that reserve.
            Some(reserve) => unsafe { reserve.put(self.base) },
            // SAFETY: By the type invariants these are frozen pages, owned by `self`.
            None => unsafe { blocks::free(self.base, self.pages) },
        }
    }
}
