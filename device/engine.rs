// SPDX-License-Identifier: GPL-2.0

//! Where runs come from and where they go.
//!
//! A mapping takes a run out of the cache, else a new one from the page allocator, and has it
//! cleared unless the policy lets it be used as it is. When it is unmapped the run goes back to the
//! cache, which remembers who wrote to it.
//!
//! Locks: the cache has a spinlock, a leaf. Nothing is allocated, freed or cleared under it, so
//! that reclaim may take it from inside of any allocation. [`Engine::map`] is called with
//! `nommu_region_sem` held for write.

use super::{
    cache::Cache,
    contents::{
        Contents,
        Owner, //
    },
    open_file::OpenFile,
    parameters::Parameters,
    policy::{
        Fit,
        Policy, //
    },
    request::Wish, //
};
use crate::memory::{
    mapping::Mapping,
    page_run::PageRun,
    shrinker::Shrink,
    task, //
};
use kernel::{
    new_spinlock,
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        SpinLock, //
    }, //
};

/// Pages that are cleared between two looks at the signals: 64 KiB of 4 KiB pages.
const CLEAR_STEP: usize = 16;

/// The memory of the device, shared by all its open files.
#[pin_data]
pub(crate) struct Engine {
    #[pin]
    cache: SpinLock<Cache<OpenFile>>,
    policy: Policy,
    /// What the page allocator hands out.
    fresh: Contents,
    /// Pages that may be mapped at a time.
    limit: usize,
    /// Pages that are mapped.
    mapped: Atomic<usize>,
    next_owner: Atomic<u64>,
}

impl Engine {
    /// An engine that follows `parameters`.
    pub(crate) fn new(parameters: &Parameters) -> impl PinInit<Self> {
        let cache_pages = parameters.cache_pages;
        let fresh = if parameters.hardened {
            Contents::Zeros
        } else {
            Contents::Unknown
        };
        let (policy, limit) = (parameters.policy, parameters.max_pages);
        pin_init!(Self {
            cache <- new_spinlock!(Cache::new(cache_pages), "pages_cache"),
            policy,
            fresh,
            limit,
            mapped: Atomic::new(0),
            next_owner: Atomic::new(0),
        })
    }

    /// A number for a new open file.
    pub(crate) fn new_owner(&self) -> Owner {
        Owner(self.next_owner.fetch_add(1, Relaxed))
    }

    /// Provides a run of `pages` pages.
    ///
    /// # Errors
    ///
    /// - `ENOMEM`: over the limit, or no such run of free memory.
    /// - `EINTR`: the task is being killed.
    pub(crate) fn map(
        &self,
        owner: Owner,
        pages: usize,
        wish: Wish,
    ) -> Result<KBox<Mapping<OpenFile>>> {
        self.charge(pages)?;
        let mapping = self.provide(owner, pages, wish);
        if mapping.is_err() {
            self.uncharge(pages);
        }
        mapping
    }

    /// Takes back the run of a mapping that is gone.
    pub(crate) fn unmapped(&self, mapping: KBox<Mapping<OpenFile>>) {
        self.uncharge(mapping.run().pages());
        self.keep(mapping);
    }

    /// Whether the pages that the core has allocated for a private mapping may stay as they are.
    pub(crate) fn copy_may_stay(&self, owner: Owner, wish: Wish) -> bool {
        self.policy.fit(wish, owner, self.fresh) > Fit::MustClear
    }

    fn provide(&self, owner: Owner, pages: usize, wish: Wish) -> Result<KBox<Mapping<OpenFile>>> {
        let fit = |contents: &Contents| self.policy.fit(wish, owner, *contents);
        let cached = self.cache.lock().take(pages, fit);
        let mut mapping = match cached {
            Some(mapping) => mapping,
            None => self.allocate(pages)?,
        };

        if fit(mapping.tag()) == Fit::MustClear {
            if let Err(err) = clear(mapping.run_mut()) {
                self.keep(mapping);
                return Err(err);
            }
        }
        // From here on the owner can write to it.
        *mapping.tag_mut() = Contents::WrittenBy(owner);
        Ok(mapping)
    }

    /// Takes a new run from the page allocator; if it has none, once more without the cache.
    ///
    /// The second time a single page is left for reclaim to find. The page allocator looks for free
    /// pages on the lists of the CPUs only when reclaim has got somewhere, and on a small machine
    /// these lists hold enough to split a run.
    fn allocate(&self, pages: usize) -> Result<KBox<Mapping<OpenFile>>> {
        let mut run = PageRun::new(pages);
        if matches!(run, Err(ENOMEM)) {
            self.scan(usize::MAX);
            if let Ok(bait) = PageRun::new(1).and_then(|page| Mapping::new(page, self.fresh)) {
                self.cache.lock().put_over_limit(bait);
            }
            run = PageRun::new(pages);
            let over_limit = self.cache.lock().trim();
            drop(over_limit);
        }
        Mapping::new(run?, self.fresh)
    }

    /// Puts a run into the cache, or frees it.
    fn keep(&self, mapping: KBox<Mapping<OpenFile>>) {
        let evicted = self.cache.lock().put(mapping);
        drop(evicted);
    }

    fn charge(&self, pages: usize) -> Result {
        let before = self.mapped.fetch_add(pages, Relaxed);
        match before.checked_add(pages) {
            Some(after) if after <= self.limit => Ok(()),
            _ => {
                self.uncharge(pages);
                Err(ENOMEM)
            }
        }
    }

    fn uncharge(&self, pages: usize) {
        self.mapped.fetch_sub(pages, Relaxed);
    }
}

impl Shrink for Engine {
    fn count(&self) -> usize {
        self.cache.lock().pages()
    }

    fn scan(&self, pages: usize) -> usize {
        let mut cache = self.cache.lock();
        let before = cache.pages();
        let out = cache.shrink_to(before.saturating_sub(pages));
        let freed = before - cache.pages();
        drop(cache);
        drop(out);
        freed
    }
}

/// Clears a run step by step, so that a task that is killed does not hold up all others.
fn clear(run: &mut PageRun) -> Result {
    for start in (0..run.pages()).step_by(CLEAR_STEP) {
        if start > 0 {
            task::cond_resched();
            if task::fatal_signal_pending() {
                return Err(EINTR);
            }
        }
        run.clear(start..start + CLEAR_STEP);
    }
    Ok(())
}
