// SPDX-License-Identifier: GPL-2.0

//! Runs that are longer than the largest block of the page allocator.
//!
//! `alloc_contig_pages()` and CMA need an MMU, so a long run is made by taking blocks of the
//! largest order until enough of them are neighbours. The others go back. On a machine that has
//! just booted the blocks come in the order of their addresses, and few are taken in vain; on a
//! fragmented one the search ends when the allocator has no further block. It ends early when the
//! caller is being killed, since `nommu_region_sem` is held meanwhile.
//!
//! C header: [`include/linux/mm.h`](srctree/include/linux/mm.h)

use super::{
    page_run::{
        alloc_block,
        free_block,
        free_exact,
        split_block,
        MAX_BLOCK_PAGES,
        MAX_ORDER, //
    },
    task, //
};
use core::{
    ops::Range,
    ptr::NonNull, //
};
use kernel::{
    page::PAGE_SHIFT,
    prelude::*, //
};

/// Bytes in the largest block.
const BLOCK_SIZE: usize = MAX_BLOCK_PAGES << PAGE_SHIFT;

/// Blocks of [`MAX_ORDER`] that were taken so far.
///
/// # Invariants
///
/// `blocks` holds blocks of the page allocator of that order, owned by this value, in the order of
/// their addresses.
struct Collection {
    blocks: KVec<NonNull<u8>>,
}

impl Collection {
    /// Takes one more block and returns its index.
    fn grow(&mut self) -> Result<usize> {
        self.blocks.reserve(1, GFP_KERNEL | __GFP_NOWARN)?;
        let block = alloc_block(MAX_ORDER).ok_or(ENOMEM)?;
        let at = self.blocks.partition_point(|other| *other < block);
        // INVARIANT: The block was just allocated, and all before `at` are below it.
        if self.blocks.insert_within_capacity(at, block).is_err() {
            // SAFETY: The block was just allocated, and the failed call did not keep it.
            unsafe { free_block(block, MAX_ORDER) };
            return Err(ENOMEM);
        }
        Ok(at)
    }

    /// The blocks around `at` that are all neighbours.
    fn neighbours(&self, at: usize) -> Range<usize> {
        let adjacent = |low: &NonNull<u8>, high: &NonNull<u8>| {
            low.addr().get() + BLOCK_SIZE == high.addr().get()
        };
        let mut start = 0;
        for run in self.blocks.chunk_by(adjacent) {
            let end = start + run.len();
            if at < end {
                return start..end;
            }
            start = end;
        }
        at..at
    }

    /// Leaves the blocks `keep` to the caller, frees the others, and returns the first one's
    /// address, or [`None`] where `keep` is empty or out of range.
    fn into_run(mut self, keep: Range<usize>) -> Option<NonNull<u8>> {
        let first = *self.blocks.get(keep.clone())?.first()?;
        let blocks = core::mem::take(&mut self.blocks);
        for (index, block) in blocks.iter().enumerate() {
            if !keep.contains(&index) {
                // SAFETY: By the type invariants the block is of this order and was owned by
                // `self`, which has forgotten it.
                unsafe { free_block(*block, MAX_ORDER) };
            }
        }
        Some(first)
    }
}

impl Drop for Collection {
    fn drop(&mut self) {
        for block in &self.blocks {
            // SAFETY: By the type invariants the block is of this order and owned by `self`.
            unsafe { free_block(*block, MAX_ORDER) };
        }
    }
}

/// Takes `blocks` whole blocks of the largest order and `tail` pages after them, all adjacent.
///
/// `tail` is below [`MAX_BLOCK_PAGES`]. Where it is not zero the last block is split, and the pages
/// behind the run go back.
///
/// # Errors
///
/// `ENOMEM` if there is no such run, `EINTR` on a fatal signal.
pub(super) fn alloc_joined(blocks: usize, tail: usize) -> Result<NonNull<u8>> {
    let wanted = blocks + usize::from(tail != 0);
    let mut collection = Collection {
        // INVARIANT: No blocks yet.
        blocks: KVec::new(),
    };

    let run = loop {
        let at = collection.grow()?;
        let run = collection.neighbours(at);
        if run.len() >= wanted {
            break run.start..run.start + wanted;
        }
        if task::fatal_signal_pending() {
            return Err(EINTR);
        }
        task::cond_resched();
    };
    let base = collection.into_run(run).ok_or(ENOMEM)?;

    if tail != 0 {
        // SAFETY: The run has `blocks + 1` blocks, so this is the address of the last one.
        let last = unsafe { base.add(blocks * BLOCK_SIZE) };
        // SAFETY: `last` is a block of the largest order that this function owns, and `tail` is
        // smaller than it.
        unsafe { trim_block(last, tail) };
    }
    Ok(base)
}

/// Splits a block of the largest order into single pages and gives back all but the first `keep`.
///
/// # Safety
///
/// `block` must be a block of order [`MAX_ORDER`] owned by the caller, and `keep` at most
/// [`MAX_BLOCK_PAGES`].
unsafe fn trim_block(block: NonNull<u8>, keep: usize) {
    // SAFETY: By the requirements of this function.
    unsafe { split_block(block, MAX_ORDER) };
    // SAFETY: `keep` is at most the number of pages of the block.
    let rest = unsafe { block.add(keep << PAGE_SHIFT) };
    // SAFETY: The pages of the block are single pages now, and owned by the caller.
    unsafe { free_exact(rest, MAX_BLOCK_PAGES - keep) };
}

/// Gives back `blocks` whole blocks of the largest order and `tail` single pages after them.
///
/// # Safety
///
/// `base` must be where such a run begins, owned by the caller, who must not use it afterwards.
pub(super) unsafe fn free_joined(base: NonNull<u8>, blocks: usize, tail: usize) {
    for block in 0..blocks {
        // SAFETY: The run has this many blocks.
        let block = unsafe { base.add(block * BLOCK_SIZE) };
        // SAFETY: It is a whole block of the largest order, owned by the caller.
        unsafe { free_block(block, MAX_ORDER) };
    }
    if tail != 0 {
        // SAFETY: The tail begins behind the last whole block.
        let rest = unsafe { base.add(blocks * BLOCK_SIZE) };
        // SAFETY: The tail is single pages by the requirements of this function.
        unsafe { free_exact(rest, tail) };
    }
}
