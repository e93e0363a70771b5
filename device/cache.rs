// SPDX-License-Identifier: GPL-2.0

//! Runs that were unmapped and wait to be used again.
//!
//! Recycling is what makes a pair of mmap and munmap flat: a run that stays in one piece is neither
//! cleared nor freed page by page. The cache is bounded; when it is full, the runs that have waited
//! in other size classes make room.

use super::policy::Fit;
use crate::memory::{
    mapping::Mapping,
    misc_device::NommuMiscDevice,
    stack::Stack, //
};
use kernel::prelude::*;

/// Sizes up to this many pages have a class of their own.
const EXACT_CLASSES: usize = 64;

/// Size classes in all: above [`EXACT_CLASSES`] there are four for each power of two.
const CLASSES: usize = 128;

/// How many runs of a class are looked at for the best one.
const DEPTH: usize = 8;

static_assert!(EXACT_CLASSES.is_power_of_two());

/// The class of a size of `pages` pages, which is at least 1.
const fn class_of(pages: usize) -> usize {
    if pages <= EXACT_CLASSES {
        return pages.saturating_sub(1);
    }
    let log = pages.ilog2();
    let quarter = (pages >> (log - 2)) & 3;
    let class = EXACT_CLASSES + 4 * (log - EXACT_CLASSES.ilog2()) as usize + quarter;
    if class < CLASSES {
        class
    } else {
        CLASSES - 1
    }
}

/// A bounded cache of runs.
pub(crate) struct Cache<D: NommuMiscDevice> {
    classes: [Stack<D>; CLASSES],
    /// Pages of all runs in the cache.
    pages: usize,
    /// What `pages` may become.
    limit: usize,
    /// The class that makes room next.
    hand: usize,
}

impl<D: NommuMiscDevice> Cache<D> {
    /// An empty cache for up to `limit` pages.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            classes: [const { Stack::new() }; CLASSES],
            pages: 0,
            limit,
            hand: 0,
        }
    }

    /// Pages in the cache.
    pub(crate) fn pages(&self) -> usize {
        self.pages
    }

    /// Takes a run of exactly `pages` pages, the one that fits best by `fit` among the newest, and
    /// says how well it does.
    #[inline]
    pub(crate) fn take(
        &mut self,
        pages: usize,
        fit: impl Fn(&D::Tag) -> Fit,
    ) -> Option<(KBox<Mapping<D>>, Fit)> {
        let class = self.classes.get_mut(class_of(pages))?;
        let newest = class.top()?;
        // Whoever maps and unmaps the same size again and again finds its own run on top.
        let (depth, fit) = if newest.run().pages() == pages && fit(newest.tag()) == Fit::Best {
            (0, Fit::Best)
        } else {
            search(class, pages, fit)?
        };
        let mapping = class.remove(depth)?;
        self.pages -= pages;
        Some((mapping, fit))
    }

    /// Puts a run in. What has to leave for it, or it itself if it is too large, is returned.
    ///
    /// The caller drops that without the lock that guards this cache.
    #[inline]
    pub(crate) fn put(&mut self, mapping: KBox<Mapping<D>>) -> Stack<D> {
        let pages = mapping.run().pages();
        let Some(room) = self.limit.checked_sub(pages) else {
            let mut refused = Stack::new();
            refused.push(mapping);
            return refused;
        };
        let evicted = if self.pages > room {
            self.shrink_to(room)
        } else {
            Stack::new()
        };
        self.put_over_limit(mapping);
        evicted
    }

    /// Puts a run in, whatever the limit.
    #[inline]
    pub(crate) fn put_over_limit(&mut self, mapping: KBox<Mapping<D>>) {
        let pages = mapping.run().pages();
        if let Some(class) = self.classes.get_mut(class_of(pages)) {
            class.push(mapping);
            self.pages += pages;
        }
    }

    /// Takes out what is over the limit.
    pub(crate) fn trim(&mut self) -> Stack<D> {
        self.shrink_to(self.limit)
    }

    /// Takes runs out until at most `pages` pages are left, from one class after the other.
    pub(crate) fn shrink_to(&mut self, pages: usize) -> Stack<D> {
        let mut out = Stack::new();
        let mut empty = 0;
        while self.pages > pages && empty < CLASSES {
            match self.classes.get_mut(self.hand).and_then(Stack::pop) {
                Some(mapping) => {
                    empty = 0;
                    self.pages -= mapping.run().pages();
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
}

/// The best of the newest runs of this size, by its place on the stack.
fn search<D: NommuMiscDevice>(
    class: &Stack<D>,
    pages: usize,
    fit: impl Fn(&D::Tag) -> Fit,
) -> Option<(usize, Fit)> {
    let mut best = None;
    for (depth, mapping) in class.iter().take(DEPTH).enumerate() {
        if mapping.run().pages() != pages {
            continue;
        }
        let fit = fit(mapping.tag());
        if best.is_none_or(|(_, known)| fit > known) {
            best = Some((depth, fit));
        }
        if fit == Fit::Best {
            break;
        }
    }
    best
}

#[kunit_tests(rust_uncleared_cache)]
mod tests {
    use super::*;

    #[test]
    fn small_sizes_have_their_own_class() {
        for pages in 1..=EXACT_CLASSES {
            assert_eq!(class_of(pages), pages - 1);
        }
    }

    #[test]
    fn classes_rise_with_the_size() {
        let mut last = class_of(1);
        for pages in 2..100_000 {
            let class = class_of(pages);
            assert!(class == last || class == last + 1);
            last = class;
        }
    }

    #[test]
    fn every_size_has_a_class() {
        for shift in 0..usize::BITS {
            assert!(class_of(1 << shift) < CLASSES);
        }
        assert_eq!(class_of(usize::MAX), CLASSES - 1);
    }

    #[test]
    fn powers_of_two_begin_a_class() {
        for shift in 7..20 {
            let pages = 1usize << shift;
            assert_ne!(class_of(pages), class_of(pages - 1));
        }
    }
}
