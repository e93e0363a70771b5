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
    /// A mapping with a new run of the page allocator.
    pub(super) fn new_mapping(&self, pages: usize) -> Result<KBox<Mapping<OpenFile>>> {
        Mapping::new(self.new_run(pages)?, Tag::new(self.supply.contents, pages))
    }

    /// A mapping with a part of the reserve; if none is free that is long enough, once more after
    /// the parts that wait have been put together.
    pub(super) fn part_of_reserve(&self, pages: usize) -> Option<KBox<Mapping<OpenFile>>> {
        if !self.supply.prefers_reserve(pages) {
            return None;
        }
        let reserve = self.supply.reserve.as_ref()?;
        let part = reserve.take(pages).or_else(|| {
            let waiting = self.pool.lock().reserve_cache.shrink_to(0);
            drop(waiting);
            reserve.take(pages)
        })?;
        Mapping::new(part, Tag::new(Contents::Unknown, pages)).ok()
    }

    /// A run of the page allocator; if it has none, once more without the caches.
    fn new_run(&self, pages: usize) -> Result<PageRun> {
        let run = PageRun::new(pages);
        if !matches!(run, Err(ENOMEM)) {
            return run;
        }
        self.empty_caches();
        PageRun::new(pages)
    }
}
