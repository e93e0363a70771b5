// SPDX-License-Identifier: GPL-2.0

//! Where runs come from and where they go.
//!
//! A mapping takes a run out of the cache, else a new one from the page allocator, and has it
//! cleared unless the policy lets it be used as it is. When it is unmapped the run goes back to the
//! cache, which remembers who wrote to it.
//!
//! Locks: the [`Pool`] has a spinlock, a leaf. Nothing is allocated, freed or cleared under it, so
//! that reclaim may take it from inside of any allocation. [`Engine::map`] is called with
//! `nommu_region_sem` held for write.

use super::{
    account::{
        Account,
        Usage, //
    },
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
    pool::Pool,
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
        LockedBy,
        SpinLock, //
    }, //
};

/// Pages that are cleared between two looks at the signals: 64 KiB of 4 KiB pages.
const CLEAR_STEP: usize = 16;

/// The memory of the device, shared by all its open files.
#[pin_data]
pub(crate) struct Engine {
    #[pin]
    pool: SpinLock<Pool>,
    policy: Policy,
    /// What the page allocator hands out.
    fresh: Contents,
    next_owner: Atomic<u64>,
}

impl Engine {
    /// An engine that follows `parameters`.
    pub(crate) fn new(parameters: &Parameters) -> impl PinInit<Self> + '_ {
        pin_init!(Self {
            pool <- new_spinlock!(Pool::new(parameters), "pages_pool"),
            policy: parameters.policy,
            fresh: if parameters.hardened {
                Contents::Zeros
            } else {
                Contents::Unknown
            },
            next_owner: Atomic::new(0),
        })
    }

    /// An account for a new open file.
    pub(crate) fn open_account(&self) -> Account {
        Account {
            owner: Owner(self.next_owner.fetch_add(1, Relaxed)),
            usage: LockedBy::new(&self.pool, Usage::default()),
        }
    }

    /// What an open file has mapped.
    pub(crate) fn usage(&self, account: &Account) -> Usage {
        *account.usage.access(&*self.pool.lock())
    }

    /// Provides a run of `pages` pages, and charges it to `account`.
    ///
    /// # Errors
    ///
    /// - `ENOMEM`: over the limit, or no such run of free memory.
    /// - `EINTR`: the task is being killed.
    pub(crate) fn map(
        &self,
        account: &Account,
        pages: usize,
        wish: Wish,
    ) -> Result<KBox<Mapping<OpenFile>>> {
        let fit = |contents: &Contents| self.policy.fit(wish, account.owner, *contents);

        let mut pool = self.pool.lock();
        pool.charge(account, pages)?;
        let cached = pool.cache.take(pages, fit);
        drop(pool);

        let mapping = match cached {
            Some((mapping, Fit::Usable | Fit::Best)) => Ok(mapping),
            Some((mapping, Fit::MustClear)) => self.clear(mapping),
            None => self.allocate(pages, fit),
        };
        match mapping {
            Ok(mut mapping) => {
                // From here on the owner can write to it.
                *mapping.tag_mut() = Contents::WrittenBy(account.owner);
                Ok(mapping)
            }
            Err(err) => {
                self.pool.lock().discharge(account, pages);
                Err(err)
            }
        }
    }

    /// Takes back the run of a mapping that is gone.
    pub(crate) fn unmapped(&self, account: &Account, mapping: KBox<Mapping<OpenFile>>) {
        let mut pool = self.pool.lock();
        pool.discharge(account, mapping.run().pages());
        let evicted = pool.cache.put(mapping);
        drop(pool);
        drop(evicted);
    }

    /// Whether the pages that the core has allocated for a private mapping may stay as they are.
    pub(crate) fn copy_may_stay(&self, account: &Account, wish: Wish) -> bool {
        self.policy.fit(wish, account.owner, self.fresh) > Fit::MustClear
    }

    /// Takes a new run from the page allocator, and clears it if it has to be.
    fn allocate(
        &self,
        pages: usize,
        fit: impl Fn(&Contents) -> Fit,
    ) -> Result<KBox<Mapping<OpenFile>>> {
        let mapping = Mapping::new(self.new_run(pages)?, self.fresh)?;
        match fit(&self.fresh) {
            Fit::Usable | Fit::Best => Ok(mapping),
            Fit::MustClear => self.clear(mapping),
        }
    }

    /// Takes a new run from the page allocator; if it has none, once more without the cache.
    ///
    /// The second time a single page is left for reclaim to find. The page allocator looks for free
    /// pages on the lists of the CPUs only when reclaim has got somewhere, and on a small machine
    /// these lists hold enough to split a run.
    #[cold]
    fn new_run(&self, pages: usize) -> Result<PageRun> {
        let run = PageRun::new(pages);
        if !matches!(run, Err(ENOMEM)) {
            return run;
        }
        self.scan(usize::MAX);
        if let Ok(bait) = PageRun::new(1).and_then(|page| Mapping::new(page, self.fresh)) {
            self.pool.lock().cache.put_over_limit(bait);
        }
        let run = PageRun::new(pages);
        let over_limit = self.pool.lock().cache.trim();
        drop(over_limit);
        run
    }

    /// Clears a run step by step, so that a task that is killed does not hold up all others.
    fn clear(&self, mut mapping: KBox<Mapping<OpenFile>>) -> Result<KBox<Mapping<OpenFile>>> {
        let run = mapping.run_mut();
        for start in (0..run.pages()).step_by(CLEAR_STEP) {
            if start > 0 {
                task::cond_resched();
                if task::fatal_signal_pending() {
                    let evicted = self.pool.lock().cache.put(mapping);
                    drop(evicted);
                    return Err(EINTR);
                }
            }
            run.clear(start..start + CLEAR_STEP);
        }
        Ok(mapping)
    }
}

impl Shrink for Engine {
    fn count(&self) -> usize {
        self.pool.lock().cache.pages()
    }

    fn scan(&self, pages: usize) -> usize {
        let mut pool = self.pool.lock();
        let before = pool.cache.pages();
        let out = pool.cache.shrink_to(before.saturating_sub(pages));
        let freed = before - pool.cache.pages();
        drop(pool);
        drop(out);
        freed
    }
}
