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

/// How many pieces may wait, whatever their size: blocks of the page allocator, as which the runs
/// would go back. Each takes a microsecond or so, and a mapping for which all of them have to go
/// holds up every other mmap in the system.
pub(crate) const MAX_PIECES: usize = 512;

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
    /// How many pieces there are.
    pieces: usize,
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
            pieces: 0,
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

    /// Takes a longer run, at most twice as long, so that it can be cut: one that need not be
    /// cleared, if there is one.
    pub(crate) fn take_longer(
        &mut self,
        pages: usize,
        terms: Terms,
    ) -> Option<KBox<Mapping<OpenFile>>> {
        let first = class_of(pages);
        let last = class_of(pages.saturating_mul(2)).min(CLASSES - 1);
        let classes = self.classes.get_mut(first..=last)?;
        let mapping = [Fit::Usable, Fit::MustClear]
            .into_iter()
            .find_map(|least| {
                let suits = |top: &Mapping<OpenFile>| {
                    terms.fit(top.tag().contents) >= least && top.run().pages() > pages
                };
                classes
                    .iter_mut()
                    .flat_map(|class| [&mut class.clean, &mut class.dirty])
                    .find(|list| list.top().is_some_and(suits))?
                    .pop()
            })?;
        self.discount(&mapping);
        Some(mapping)
    }

    /// Takes the run of `pages` pages that begins at `base`.
    pub(crate) fn take_at(&mut self, base: usize, pages: usize) -> Option<KBox<Mapping<OpenFile>>> {
        let class = self.classes.get_mut(class_of(pages))?;
        let mapping = [&mut class.clean, &mut class.dirty]
            .into_iter()
            .find_map(|list| {
                let depth = list.iter().position(|other| other.run().base() == base)?;
                list.remove(depth)
            })?;
        self.discount(&mapping);
        Some(mapping)
    }

    /// All runs, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mapping<OpenFile>> {
        self.classes
            .iter()
            .flat_map(|class| [&class.clean, &class.dirty])
            .flat_map(Stack::iter)
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
        let pieces = mapping.tag().size.pieces;
        let evicted = if self.pages() > room || self.pieces + pieces > MAX_PIECES {
            self.make_room(room, MAX_PIECES.saturating_sub(pieces))
        } else {
            Stack::new()
        };
        self.insert(mapping);
        evicted
    }

    #[inline(always)]
    fn insert(&mut self, mapping: KBox<Mapping<OpenFile>>) {
        let pages = mapping.run().pages();
        // Every size has a class (`size_class::tests`), so nothing is dropped under the lock.
        let size = mapping.tag().size;
        let Some(class) = self.classes.get_mut(size.class) else {
            return;
        };
        self.pieces += size.pieces;
        if mapping.tag().contents == Contents::Zeros {
            class.clean.push(mapping);
            self.clean += pages;
        } else {
            class.dirty.push(mapping);
            self.dirty += pages;
        }
    }

    /// Takes runs out until at most `pages` pages are left.
    pub(crate) fn shrink_to(&mut self, pages: usize) -> Stack<OpenFile> {
        self.make_room(pages, MAX_PIECES)
    }

    /// Takes runs out until at most `pages` pages in `pieces` pieces are left, from one class after
    /// the other.
    #[cold]
    fn make_room(&mut self, pages: usize, pieces: usize) -> Stack<OpenFile> {
        let mut out = Stack::new();
        let mut empty = 0;
        while (self.pages() > pages || self.pieces > pieces) && empty < CLASSES {
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
        self.pieces -= mapping.tag().size.pieces;
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
