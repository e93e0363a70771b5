// SPDX-License-Identifier: GPL-2.0

//! Runs that are longer than the largest block of the page allocator.
//!
//! `alloc_contig_pages()` and CMA need an MMU, so a long run is made by taking blocks of the
//! largest order until enough of them are neighbours. The others go back. On a machine that has
//! just booted the blocks come in the order of their addresses, and few are taken in vain.
//!
//! The search is bounded, since `nommu_region_sem` is held meanwhile and what is taken in vain is
//! missing elsewhere: see [`MAX_SPARE`] and [`may_take_more`]. It ends early when the caller is
//! being killed.

use super::{
    blocks::MAX_ORDER,
    page_run::{
        PageRun,
        MAX_BLOCK_PAGES, //
    },
    system,
    task, //
};
use kernel::prelude::*;

/// How many blocks are taken in vain at most: 2 GiB. Each takes about a thousand instructions.
const MAX_SPARE: usize = 512;

/// Blocks that were taken so far, put together where they are neighbours.
struct Collection {
    /// In the order of their addresses.
    runs: KVec<PageRun>,
}

impl Collection {
    /// Takes one more block. Returns where the run is that it has become a part of.
    fn grow(&mut self) -> Result<usize> {
        self.runs.reserve(1, GFP_KERNEL | __GFP_NOWARN)?;
        let block = PageRun::of_block(MAX_ORDER)?;
        let at = self.runs.partition_point(|run| run.base() < block.base());

        let joined = match at.checked_sub(1).and_then(|below| self.runs.get_mut(below)) {
            Some(below) => below.join(block),
            None => Err(block),
        };
        let at = match joined {
            Ok(()) => at - 1,
            Err(block) => {
                self.runs
                    .insert_within_capacity(at, block)
                    .map_err(|_| ENOMEM)?;
                at
            }
        };
        self.close_gap(at);
        Ok(at)
    }

    /// Joins the run at `at` with the one behind it where they touch.
    fn close_gap(&mut self, at: usize) {
        let touch = match self.runs.get(at..) {
            Some([run, next, ..]) => run.touches(next),
            _ => false,
        };
        if touch {
            if let Ok(next) = self.runs.remove(at + 1) {
                if let Some(run) = self.runs.get_mut(at) {
                    // They touch, so nothing comes back.
                    let _ = run.join(next);
                }
            }
        }
    }
}

/// Takes a run of at least `pages` pages, in whole blocks.
///
/// # Errors
///
/// `ENOMEM` if there is no such run, `EINTR` on a fatal signal.
pub(super) fn alloc_joined(pages: usize) -> Result<PageRun> {
    let wanted = pages.div_ceil(MAX_BLOCK_PAGES);
    let mut collection = Collection { runs: KVec::new() };

    for taken in 1.. {
        let at = collection.grow()?;
        if collection
            .runs
            .get(at)
            .is_some_and(|run| run.pages() >= pages)
        {
            return collection.runs.remove(at).map_err(|_| ENOMEM);
        }
        if !may_take_more(taken, wanted, system::enough_is_left) {
            break;
        }
        if task::fatal_signal_pending() {
            return Err(EINTR);
        }
        task::cond_resched();
    }
    Err(ENOMEM)
}

/// Whether to go on after `taken` blocks, where `wanted` would have done.
///
/// What is beyond those is taken in vain. Nobody must be killed for want of it.
fn may_take_more(taken: usize, wanted: usize, enough_is_left: impl FnOnce() -> bool) -> bool {
    taken < wanted || taken - wanted < MAX_SPARE && enough_is_left()
}

#[kunit_tests(rust_uncleared_join)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_is_taken() {
        assert!(may_take_more(0, 1, || false));
        assert!(may_take_more(999, 1000, || false));
    }

    #[test]
    fn what_is_taken_in_vain_is_bounded() {
        assert!(may_take_more(2, 2, || true));
        assert!(may_take_more(MAX_SPARE + 1, 2, || true));
        assert!(!may_take_more(MAX_SPARE + 2, 2, || true));
        assert!(!may_take_more(2, 2, || false));
    }
}
