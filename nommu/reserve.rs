// SPDX-License-Identifier: GPL-2.0

//! A run that is taken before memory is fragmented, to be lent in parts.
//!
//! A maple tree knows which pages are lent; it joins free neighbours by itself. Its lock is a leaf.
//! Taking back a part may allocate a node of the tree, so it must not happen with a spinlock held.
//!
//! C header: [`include/linux/maple_tree.h`](srctree/include/linux/maple_tree.h)

use super::page_run::PageRun;
use core::ptr::NonNull;
use kernel::{
    maple_tree::MapleTreeAlloc,
    page::PAGE_SHIFT,
    prelude::*,
    sync::Arc, //
};

/// A run of which parts are lent.
#[pin_data]
pub(crate) struct Reserve {
    run: PageRun,
    /// The pages that are lent, by their number within the run.
    #[pin]
    lent: MapleTreeAlloc<()>,
}

// SAFETY: The run is `Send`, and the tree holds nothing that belongs to a thread.
unsafe impl Send for Reserve {}
// SAFETY: The run is `Sync`, and all methods of the tree that take `&self` take its lock.
unsafe impl Sync for Reserve {}

impl Reserve {
    /// Takes a run of `pages` pages.
    ///
    /// # Errors
    ///
    /// Those of [`PageRun::new`].
    pub(crate) fn new(pages: usize) -> Result<Arc<Self>> {
        let run = PageRun::new(pages)?;
        Arc::pin_init(
            pin_init!(Self {
                run,
                lent <- MapleTreeAlloc::new(),
            }),
            GFP_KERNEL,
        )
    }

    /// Pages in all.
    pub(crate) fn pages(&self) -> usize {
        self.run.pages()
    }

    /// Lends a run of `pages` pages, or [`None`] where no part of that length is free.
    pub(crate) fn take(self: &Arc<Self>, pages: usize) -> Option<PageRun> {
        let flags = GFP_KERNEL | __GFP_NOWARN;
        let first = self
            .lent
            .alloc_range(pages, (), ..self.run.pages(), flags)
            .ok()?;
        // SAFETY: `mtree_alloc_range()` has found `pages` free indices from `first` on, the last of
        // which is below `self.run.pages()`: so they lie within the run.
        let base = unsafe { self.run.as_ptr().add(first << PAGE_SHIFT) };
        // SAFETY: The range lies within the run, and by the tree it was free and is lent to this
        // caller now. Its length is not zero: `mtree_alloc_range()` refuses that.
        Some(unsafe { PageRun::from_reserve(self.clone(), base, pages) })
    }

    /// Takes back a run that was lent.
    ///
    /// Allocates, without fail, so it may sleep.
    ///
    /// # Safety
    ///
    /// `base` must be that of a run which [`Self::take`] has lent. The caller must not use it
    /// afterwards.
    pub(super) unsafe fn put(&self, base: NonNull<u8>) {
        let offset = base.addr().get() - self.run.base();
        self.lent.erase(offset >> PAGE_SHIFT);
    }
}
