// SPDX-License-Identifier: GPL-2.0

//! What the lock of the engine guards: the runs that wait, and the figures.

use super::{
    account::Total,
    cache::{
        Cache,
        Found, //
    },
    contents::Contents,
    open_file::OpenFile,
    parameters::Parameters,
    policy::{
        Fit,
        Terms, //
    },
    statistics::Counters, //
};
use crate::memory::{
    mapping::Mapping,
    stack::Stack, //
};
use kernel::prelude::*;

/// The shared state of the device.
pub(crate) struct Pool {
    /// Runs of the page allocator that wait to be used again.
    pub(crate) cache: Cache,
    /// Parts of the reserve that wait to be used again. Reclaim has no use for them.
    pub(crate) reserve_cache: Cache,
    /// Pages of the run that the background worker has taken out to clear a part of it.
    pub(crate) cleaning: usize,
    /// What is mapped.
    pub(crate) total: Total,
    /// What has happened.
    pub(crate) counters: Counters,
    /// Whether the background worker has been asked for.
    pub(crate) worker_asked: bool,
    /// The number of mappings made when the background worker last looked.
    pub(crate) seen_by_worker: u64,
}

impl Pool {
    /// An empty pool with the limits of `parameters`.
    pub(crate) fn new(parameters: &Parameters) -> Self {
        Self {
            cache: Cache::new(parameters.cache_pages),
            reserve_cache: Cache::new(parameters.reserve_pages),
            cleaning: 0,
            total: Total::new(parameters.max_pages),
            counters: Counters::default(),
            worker_asked: false,
            seen_by_worker: 0,
        }
    }

    /// Takes a run that waits and has this size, from the reserve's cache or the other, and
    /// accounts for it, and for its clearing where that has to follow.
    #[inline(always)]
    pub(crate) fn take(&mut self, pages: usize, in_reserve: bool, terms: Terms) -> Option<Found> {
        let reserved = if in_reserve {
            self.take_reserved(pages, terms)
        } else {
            None
        };
        // When the reserve was used up, runs of this size have come from elsewhere.
        let (mapping, fit) = match reserved {
            Some(found) => found,
            None => self.cache.take(pages, terms)?,
        };
        self.counters.recycled += pages as u64;
        if fit == Fit::MustClear {
            self.counters.cleared += (pages - mapping.tag().cleared) as u64;
        } else if mapping.tag().contents != Contents::Zeros {
            self.counters.uncleared += pages as u64;
        }
        Some((mapping, fit))
    }

    #[inline(never)]
    fn take_reserved(&mut self, pages: usize, terms: Terms) -> Option<Found> {
        let found = self.reserve_cache.take(pages, terms)?;
        self.total.add_reserved(pages);
        Some(found)
    }

    /// Puts a run where it belongs. What is returned is to be dropped without the lock.
    #[inline]
    pub(crate) fn put(&mut self, mapping: KBox<Mapping<OpenFile>>) -> Stack<OpenFile> {
        let cache = if mapping.run().is_reserved() {
            &mut self.reserve_cache
        } else {
            &mut self.cache
        };
        cache.put(mapping)
    }

    /// Pages that wait and are zero.
    pub(crate) fn clean_pages(&self) -> usize {
        self.cache.clean_pages() + self.reserve_cache.clean_pages()
    }

    /// Pages that wait and are not known to be zero.
    pub(crate) fn dirty_pages(&self) -> usize {
        self.cache.dirty_pages() + self.reserve_cache.dirty_pages() + self.cleaning
    }
}
