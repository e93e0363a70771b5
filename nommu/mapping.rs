// SPDX-License-Identifier: GPL-2.0

//! A page run with what it takes to lend it to a VMA.
//!
//! How a VMA gets it, and how it comes back, is in [`vma`](super::vma): each kind of kernel has its
//! own.

use super::{
    misc_device::NommuMiscDevice,
    page_run::PageRun,
    stack::Link,
    vma::Loan, //
};
use kernel::prelude::*;

/// What a caller asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MapRequest {
    /// Length in pages, at least 1.
    pub(crate) pages: usize,
    /// Offset in pages.
    pub(crate) pgoff: usize,
    /// The raw flags of mmap(2), which only a kernel without an MMU tells; else 0. The system call
    /// keeps the low 32 bits only on some architectures; no flag lies above them.
    pub(crate) flags: u32,
}

/// A page run together with what it takes to lend it and to get it back.
///
/// The box that holds it is allocated once and goes wherever the run goes, so that a driver that
/// keeps its mappings for reuse allocates nothing on the way.
pub(crate) struct Mapping<D: NommuMiscDevice> {
    /// Of use while a VMA has the run.
    pub(super) loan: Loan<D>,
    /// What is still to be cleared when `mmap` has the run: the pages from this one on.
    pub(super) clear_from: Option<usize>,
    /// The one below in the [`Stack`](super::stack::Stack) that this one is on.
    pub(super) next: Link<D>,
    run: PageRun,
    tag: D::Tag,
}

impl<D: NommuMiscDevice> Mapping<D> {
    /// Allocates a mapping for `run`.
    ///
    /// # Errors
    ///
    /// `ENOMEM`; the run is freed then.
    pub(crate) fn new(run: PageRun, tag: D::Tag) -> Result<KBox<Self>> {
        let mapping = Self {
            loan: Loan::new(),
            clear_from: None,
            next: None,
            run,
            tag,
        };
        Ok(KBox::new(mapping, GFP_KERNEL | __GFP_NOWARN)?)
    }

    /// The page run.
    #[inline]
    pub(crate) fn run(&self) -> &PageRun {
        &self.run
    }

    /// The page run, to be cleared or cut.
    #[inline]
    pub(crate) fn run_mut(&mut self) -> &mut PageRun {
        &mut self.run
    }

    /// The page run alone. The box is freed.
    pub(crate) fn into_run(mapping: KBox<Self>) -> PageRun {
        KBox::into_inner(mapping).run
    }

    /// Has the pages from `first` on cleared before the caller of mmap(2) sees them, but not while
    /// others wait for a lock.
    ///
    /// [`Self::was_cleared`] tells afterwards whether it came to that.
    pub(crate) fn clear_later(&mut self, first: usize) {
        self.clear_from = Some(first);
    }

    /// Whether what [`Self::clear_later`] asked for has been done, or nothing was asked for. It is
    /// not done when the caller was killed before. To be asked when the mapping is gone.
    #[inline]
    pub(crate) fn was_cleared(&mut self) -> bool {
        self.clear_from.take().is_none() || self.loan.was_cleared()
    }

    /// What the driver wrote on it.
    #[inline]
    pub(crate) fn tag(&self) -> &D::Tag {
        &self.tag
    }

    /// What the driver wrote on it.
    #[inline]
    pub(crate) fn tag_mut(&mut self) -> &mut D::Tag {
        &mut self.tag
    }
}
