// SPDX-License-Identifier: GPL-2.0

//! Runs that were unmapped and wait to be used again.
//!
//! Recycling is what makes a pair of mmap and munmap flat: a run that stays in one piece is neither
//! cleared nor freed page by page. The cache is bounded; when it is full, the runs that have waited
//! in other size classes make room.

use super::{
    contents::Contents,
    open_file::OpenFile,
    policy::{
        Fit,
        Terms, //
    },
    request::Wish,
    size_class::{
        class_of,
        CLASSES, //
    }, //
};
use crate::memory::{
    mapping::Mapping,
    stack::Stack, //
};
use kernel::prelude::*;

/// How many runs may wait, whatever their size. It bounds the time that the lock is held to take
/// them all out, and the pieces into which small runs could break the memory.
const MAX_RUNS: usize = 256;

/// How many runs of a list are looked at for the best one.
const DEPTH: usize = 8;

/// A run, and how well it suits.
pub(crate) type Found = (KBox<Mapping<OpenFile>>, Fit);

/// The runs of a size class, the newest first.
struct Class {
    /// Those that are zero.
    clean: Stack<OpenFile>,
    /// All others.
    dirty: Stack<OpenFile>,
}

impl Class {
    const EMPTY: Self = Self {
        clean: Stack::new(),
        dirty: Stack::new(),
    };
}

/// A bounded cache of runs.
pub(crate) struct Cache {
    classes: [Class; CLASSES],
    /// Pages of the runs that are zero.
    clean: usize,
    /// Pages of all others.
    dirty: usize,
    /// What the sum of both may become.
    limit: usize,
    /// How many runs there are.
    runs: usize,
    /// The class that makes room next.
    hand: usize,
}

impl Cache {
    /// An empty cache for up to `limit` pages.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            classes: [const { Class::EMPTY }; CLASSES],
            clean: 0,
            dirty: 0,
            limit,
            runs: 0,
            hand: 0,
        }
    }

    /// Pages in the cache.
    pub(crate) fn pages(&self) -> usize {
        self.clean + self.dirty
    }

    /// Pages that are zero.
    pub(crate) fn clean_pages(&self) -> usize {
        self.clean
    }

    /// Pages that are not known to be zero.
    pub(crate) fn dirty_pages(&self) -> usize {
        self.dirty
    }

    /// Takes a run of exactly `pages` pages, the one that suits best among the newest.
    #[inline(always)]
    pub(crate) fn take(&mut self, pages: usize, terms: Terms) -> Option<Found> {
        let class = self.classes.get_mut(class_of(pages))?;
        // Whoever maps and unmaps the same size again and again finds its own run on top of one of
        // the lists. A mapping that wants zeros finds nothing better in the dirty one than its top.
        let wants_zeros = terms.wish == Wish::Zeroed;
        let list = if wants_zeros && !class.clean.is_empty() {
            &mut class.clean
        } else {
            &mut class.dirty
        };
        let newest = match list.top() {
            Some(newest) if newest.run().pages() == pages => Some(terms.fit(newest.tag().contents)),
            _ => None,
        };
        let found = match newest {
            Some(fit) if wants_zeros || fit == Fit::Best => (list.pop()?, fit),
            _ => search(class, pages, terms)?,
        };
        self.discount(&found.0);
        Some(found)
    }

    /// Takes a longer run, at most twice as long, that can be used without being cleared, so that
    /// it can be cut.
    pub(crate) fn take_longer(
        &mut self,
        pages: usize,
        terms: Terms,
    ) -> Option<KBox<Mapping<OpenFile>>> {
        let first = class_of(pages);
        let last = class_of(pages.saturating_mul(2)).min(CLASSES - 1);
        let suits = |top: &Mapping<OpenFile>| {
            terms.fit(top.tag().contents) > Fit::MustClear && top.run().can_split_at(pages)
        };
        let mapping = self
            .classes
            .get_mut(first..=last)?
            .iter_mut()
            .flat_map(|class| [&mut class.clean, &mut class.dirty])
            .find(|list| list.top().is_some_and(suits))?
            .pop()?;
        self.discount(&mapping);
        Some(mapping)
    }

    /// Takes a run that is not zero, from one class after the other.
    pub(crate) fn take_dirty(&mut self) -> Option<KBox<Mapping<OpenFile>>> {
        let mapping = self
            .classes
            .iter_mut()
            .find_map(|class| class.dirty.pop())?;
        self.discount(&mapping);
        Some(mapping)
    }

    /// Puts a run in. What has to leave for it, or it itself if it is too large, is returned.
    ///
    /// The caller drops that without the lock that guards this cache.
    #[inline(always)]
    pub(crate) fn put(&mut self, mapping: KBox<Mapping<OpenFile>>) -> Stack<OpenFile> {
        let Some(room) = self.limit.checked_sub(mapping.run().pages()) else {
            let mut refused = Stack::new();
            refused.push(mapping);
            return refused;
        };
        let evicted = if self.pages() > room || self.runs >= MAX_RUNS {
            self.make_room(room, MAX_RUNS - 1)
        } else {
            Stack::new()
        };
        self.put_over_limit(mapping);
        evicted
    }

    /// Puts a run in, whatever the limit.
    #[inline(always)]
    pub(crate) fn put_over_limit(&mut self, mapping: KBox<Mapping<OpenFile>>) {
        let pages = mapping.run().pages();
        // Every size has a class (`size_class::tests`), so nothing is dropped under the lock.
        let Some(class) = self.classes.get_mut(class_of(pages)) else {
            return;
        };
        self.runs += 1;
        if mapping.tag().contents == Contents::Zeros {
            class.clean.push(mapping);
            self.clean += pages;
        } else {
            class.dirty.push(mapping);
            self.dirty += pages;
        }
    }

    /// Takes out what is over the limit.
    pub(crate) fn trim(&mut self) -> Stack<OpenFile> {
        self.shrink_to(self.limit)
    }

    /// Takes runs out until at most `pages` pages are left.
    pub(crate) fn shrink_to(&mut self, pages: usize) -> Stack<OpenFile> {
        self.make_room(pages, MAX_RUNS)
    }

    /// Takes runs out until at most `pages` pages in `runs` runs are left, from one class after the
    /// other.
    #[cold]
    fn make_room(&mut self, pages: usize, runs: usize) -> Stack<OpenFile> {
        let mut out = Stack::new();
        let mut empty = 0;
        while (self.pages() > pages || self.runs > runs) && empty < CLASSES {
            let victim = self
                .classes
                .get_mut(self.hand)
                .and_then(|class| class.dirty.pop().or_else(|| class.clean.pop()));
            match victim {
                Some(mapping) => {
                    empty = 0;
                    self.discount(&mapping);
                    out.push(mapping);
                }
                None => {
                    empty += 1;
                    self.hand = (self.hand + 1) % CLASSES;
                }
            }
        }
        out
    }

    /// Accounts for a run that was taken out.
    #[inline(always)]
    fn discount(&mut self, mapping: &Mapping<OpenFile>) {
        let pages = mapping.run().pages();
        self.runs -= 1;
        if mapping.tag().contents == Contents::Zeros {
            self.clean -= pages;
        } else {
            self.dirty -= pages;
        }
    }
}

/// Takes the best of the newest runs of this size.
#[inline(never)]
fn search(class: &mut Class, pages: usize, terms: Terms) -> Option<Found> {
    let best_of = |list: &Stack<OpenFile>| {
        let mut best: Option<(usize, Fit)> = None;
        for (depth, mapping) in list.iter().take(DEPTH).enumerate() {
            if mapping.run().pages() == pages {
                let fit = terms.fit(mapping.tag().contents);
                if best.is_none_or(|(_, known)| fit > known) {
                    best = Some((depth, fit));
                }
            }
        }
        best
    };
    let (list, (depth, fit)) = match (best_of(&class.clean), best_of(&class.dirty)) {
        (Some(clean), Some(dirty)) if dirty.1 > clean.1 => (&mut class.dirty, dirty),
        (Some(clean), _) => (&mut class.clean, clean),
        (None, dirty) => (&mut class.dirty, dirty?),
    };
    Some((list.remove(depth)?, fit))
}
