// SPDX-License-Identifier: GPL-2.0

//! Where runs come from and where they go.
//!
//! A mapping takes a run that waits, else a new one from the [`Supply`], and has it cleared unless
//! the policy lets it be used as it is. When it is unmapped the run waits in a cache, which
//! remembers who wrote to it.
//!
//! Locks: the [`Pool`] has a spinlock, a leaf. Nothing is allocated, freed or cleared under it, so
//! that reclaim may take it from inside of any allocation. [`Engine::map`] is called with
//! `nommu_region_sem` held for write.

use super::{
    account::{
        Account,
        Usage, //
    },
    cleaner::idle_time,
    contents::{
        Contents,
        Owner, //
    },
    open_file::OpenFile,
    parameters::Parameters,
    policy::{
        Fit,
        Policy,
        Terms, //
    },
    pool::Pool,
    request::Wish,
    statistics::Snapshot,
    supply::Supply, //
};
use crate::memory::{
    mapping::Mapping,
    page_run::CLEAR_STEP,
    shrinker::Shrink,
    stack::Stack,
    worker::Worker, //
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

/// Pages that are cleared while every other mmap in the system waits: 1 MiB. More is cleared after
/// mmap has let go of the lock.
const CLEAR_AT_ONCE: usize = 256;

/// Clears what waits; see [`super::cleaner`].
pub(super) type Cleaner = Worker<Engine>;

/// The memory of the device, shared by all its open files.
#[pin_data]
pub(crate) struct Engine {
    #[pin]
    pub(super) pool: SpinLock<Pool>,
    pub(super) supply: Supply,
    policy: Policy,
    next_owner: Atomic<u64>,
}

impl Engine {
    /// An engine that follows `parameters`.
    pub(crate) fn new(parameters: &Parameters, supply: Supply) -> impl PinInit<Self> + '_ {
        pin_init!(Self {
            pool <- new_spinlock!(Pool::new(parameters), "pages_pool"),
            supply,
            policy: parameters.policy,
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

    /// All figures.
    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot::new(&self.pool.lock(), self.supply.reserve_pages())
    }

    /// Provides a run of `pages` pages, and charges it to `account`. What is left over on the way
    /// and waits is the business of `cleaner`.
    ///
    /// # Errors
    ///
    /// - `ENOMEM`: over the limit, or no such run of free memory.
    /// - `EINTR`: the task is being killed.
    #[inline(always)]
    pub(crate) fn map(
        &self,
        account: &Account,
        pages: usize,
        wish: Wish,
        cleaner: &Cleaner,
    ) -> Result<KBox<Mapping<OpenFile>>> {
        let terms = self.terms(account, wish);
        let in_reserve = self.supply.prefers_reserve(pages);

        let mut pool = self.pool.lock();
        pool.charge(account, pages)?;
        let waiting = pool.take(pages, in_reserve, terms);
        drop(pool);

        match waiting {
            Some((mapping, Fit::Usable | Fit::Best)) => Ok(mapping),
            Some((mut mapping, Fit::MustClear)) if pages <= CLEAR_STEP => {
                mapping.run_mut().clear(0..pages);
                Ok(mapping)
            }
            Some((mapping, Fit::MustClear)) => self.clear_for(account, mapping, cleaner),
            None => self.supply_for(account, pages, terms, cleaner),
        }
    }

    /// Takes back the run of a mapping that is gone. Returns whether the background worker is to be
    /// asked, because nobody has done so yet.
    pub(crate) fn unmapped(&self, account: &Account, mut mapping: KBox<Mapping<OpenFile>>) -> bool {
        let pages = mapping.run().pages();
        let contents = if mapping.was_cleared() {
            Contents::WrittenBy(account.owner)
        } else {
            Contents::Unknown
        };
        mapping.tag_mut().set(contents);
        let mut pool = self.pool.lock();
        pool.discharge(account, pages);
        let evicted = if mapping.run().is_reserved() {
            pool.total.remove_reserved(pages);
            pool.reserve_cache.put(mapping)
        } else {
            pool.cache.put(mapping)
        };
        let ask = !pool.worker_asked;
        pool.worker_asked = true;
        drop(pool);
        drop(evicted);
        ask
    }

    #[inline]
    fn terms(&self, account: &Account, wish: Wish) -> Terms {
        Terms {
            policy: self.policy,
            owner: account.owner,
            wish,
        }
    }

    /// Whether the pages that the core has allocated for a private mapping may stay as they are.
    pub(crate) fn copy_may_stay(&self, account: &Account, wish: Wish) -> bool {
        self.terms(account, wish).fit(self.supply.contents()) > Fit::MustClear
    }

    /// Takes a run that has not waited in its size, and clears it if it has to be. On an error the
    /// charge to `account` is taken back.
    #[cold]
    fn supply_for(
        &self,
        account: &Account,
        pages: usize,
        terms: Terms,
        cleaner: &Cleaner,
    ) -> Result<KBox<Mapping<OpenFile>>> {
        let mapping = match self.waits_otherwise(pages, terms, cleaner) {
            Some(mapping) => mapping,
            None => self
                .new_mapping(pages)
                .inspect_err(|_| self.give_up(account, pages))?,
        };
        let contents = mapping.tag().contents;
        let mut pool = self.pool.lock();
        if mapping.run().is_reserved() {
            pool.total.add_reserved(pages);
        }
        if terms.fit(contents) == Fit::MustClear {
            pool.counters.cleared += (pages - mapping.tag().cleared) as u64;
            drop(pool);
            return self.clear_for(account, mapping, cleaner);
        }
        if contents != Contents::Zeros {
            pool.counters.uncleared += pages as u64;
        }
        Ok(mapping)
    }

    /// A part of the reserve, or a run that has waited in another size.
    fn waits_otherwise(
        &self,
        pages: usize,
        terms: Terms,
        cleaner: &Cleaner,
    ) -> Option<KBox<Mapping<OpenFile>>> {
        if let Some(mapping) = self.part_of_reserve(pages) {
            return Some(mapping);
        }
        let mapping = self.remade(pages, terms, cleaner)?;
        self.pool.lock().counters.recycled += pages as u64;
        Some(mapping)
    }

    /// Clears a run that is charged to `account`, step by step, so that a task that is killed does
    /// not hold up all others. On an error the charge is taken back, and the run waits on. A long
    /// run is left for later.
    #[inline(never)]
    fn clear_for(
        &self,
        account: &Account,
        mut mapping: KBox<Mapping<OpenFile>>,
        cleaner: &Cleaner,
    ) -> Result<KBox<Mapping<OpenFile>>> {
        let pages = mapping.run().pages();
        let first = mapping.tag().cleared;
        if pages - first > CLEAR_AT_ONCE {
            mapping.clear_later(first);
            return Ok(mapping);
        }
        let next = mapping.run_mut().clear_until_killed(first);
        if next >= pages {
            return Ok(mapping);
        }

        mapping.tag_mut().cleared = next;
        let mut pool = self.pool.lock();
        pool.counters.cleared -= (pages - next) as u64;
        if mapping.run().is_reserved() {
            pool.total.remove_reserved(pages);
        }
        drop(pool);
        self.give_up(account, pages);
        self.keep(mapping, cleaner);
        Err(EINTR)
    }

    /// Takes back the charge for a mapping that fails.
    fn give_up(&self, account: &Account, pages: usize) {
        let mut pool = self.pool.lock();
        pool.discharge(account, pages);
        pool.counters.failures += 1;
    }

    /// Puts a run into its cache, or frees it.
    pub(super) fn keep(&self, mapping: KBox<Mapping<OpenFile>>, cleaner: &Cleaner) {
        let mut pool = self.pool.lock();
        let evicted = pool.put(mapping);
        let ask = !pool.worker_asked;
        pool.worker_asked = true;
        drop(pool);
        drop(evicted);
        if ask {
            cleaner.ask(idle_time());
        }
    }

    /// Takes everything out of the caches.
    pub(super) fn empty_caches(&self) {
        let (cached, reserved) = self.take_all();
        drop(cached);
        drop(reserved);
    }

    fn take_all(&self) -> (Stack<OpenFile>, Stack<OpenFile>) {
        let mut pool = self.pool.lock();
        (pool.cache.shrink_to(0), pool.reserve_cache.shrink_to(0))
    }
}

impl Shrink for Engine {
    fn count(&self) -> usize {
        self.pool.lock().cache.pages()
    }

    fn empty(&self) -> usize {
        let mut pool = self.pool.lock();
        let freed = pool.cache.pages();
        let out = pool.cache.shrink_to(0);
        drop(pool);
        drop(out);
        freed
    }
}
