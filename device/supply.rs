// SPDX-License-Identifier: GPL-2.0

//! New runs: from the reserve, else from the page allocator.

use super::{
    contents::{
        Contents,
        Tag, //
    },
    engine::Engine,
    open_file::OpenFile,
    parameters::Parameters, //
};
use crate::memory::{
    mapping::Mapping,
    page_run::PageRun,
    reserve::Reserve, //
};
use kernel::{
    page::PAGE_SHIFT,
    prelude::*,
    sizes::SZ_64K,
    sync::Arc, //
};

/// Mappings from this length on are served from the reserve first.
const RESERVE_FROM_PAGES: usize = SZ_64K >> PAGE_SHIFT;

/// The sources of new runs.
pub(crate) struct Supply {
    reserve: Option<Arc<Reserve>>,
    /// What a new run contains.
    contents: Contents,
}

impl Supply {
    /// Takes the reserve.
    ///
    /// # Errors
    ///
    /// `ENOMEM`: there is no run of that length.
    pub(crate) fn new(parameters: &Parameters) -> Result<Self> {
        let reserve = match parameters.reserve_pages {
            0 => None,
            pages => Some(Reserve::new(pages)?),
        };
        let contents = if parameters.hardened {
            Contents::Zeros
        } else {
            Contents::Unknown
        };
        Ok(Self { reserve, contents })
    }

    /// What a new run of the page allocator contains.
    pub(crate) fn contents(&self) -> Contents {
        self.contents
    }

    /// Pages of the reserve.
    pub(crate) fn reserve_pages(&self) -> usize {
        self.reserve.as_ref().map_or(0, |reserve| reserve.pages())
    }

    /// Whether a mapping of this length is to come from the reserve.
    #[inline]
    pub(crate) fn prefers_reserve(&self, pages: usize) -> bool {
        self.reserve.is_some() && pages >= RESERVE_FROM_PAGES
    }
}

impl Engine {
    /// A mapping with a new run.
    pub(super) fn new_mapping(&self, pages: usize) -> Result<KBox<Mapping<OpenFile>>> {
        if let Some(run) = self.part_of_reserve(pages) {
            return Mapping::new(run, Tag::new(Contents::Unknown));
        }
        Mapping::new(self.new_run(pages)?, Tag::new(self.supply.contents))
    }

    /// A part of the reserve; if none is free that is long enough, once more after the parts that
    /// wait have been put together.
    fn part_of_reserve(&self, pages: usize) -> Option<PageRun> {
        if !self.supply.prefers_reserve(pages) {
            return None;
        }
        let reserve = self.supply.reserve.as_ref()?;
        reserve.take(pages).or_else(|| {
            let waiting = self.pool.lock().reserve_cache.shrink_to(0);
            drop(waiting);
            reserve.take(pages)
        })
    }

    /// A run of the page allocator; if it has none, once more without the caches.
    ///
    /// The second time a single page is left for reclaim to find. The page allocator looks for free
    /// pages on the lists of the CPUs only when reclaim has got somewhere, and on a small machine
    /// these lists hold enough to split a run.
    fn new_run(&self, pages: usize) -> Result<PageRun> {
        let run = PageRun::new(pages);
        if !matches!(run, Err(ENOMEM)) {
            return run;
        }
        self.empty_caches();
        let bait = PageRun::new(1).and_then(|page| Mapping::new(page, Tag::new(Contents::Unknown)));
        if let Ok(bait) = bait {
            self.pool.lock().cache.put_over_limit(bait);
        }
        let run = PageRun::new(pages);
        let over_limit = self.pool.lock().cache.trim();
        drop(over_limit);
        run
    }
}
