// SPDX-License-Identifier: GPL-2.0

//! Makes a run of a size out of runs of other sizes that wait.
//!
//! Where many sizes are in use few mappings find one that is just as long. A longer run is cut, or
//! runs that are neighbours are joined, and what is too much waits on. Both are bounded: a run
//! comes from one that is at most twice as long, and from at most [`MAX_PARTS`].

use super::{
    cache::MAX_PIECES,
    engine::{
        Cleaner,
        Engine, //
    },
    open_file::OpenFile,
    policy::{
        Fit,
        Terms, //
    }, //
};
use crate::memory::{
    mapping::Mapping,
    stack::Stack, //
};
use kernel::{
    page::PAGE_SHIFT,
    prelude::*, //
};

/// How many runs are joined at most.
const MAX_PARTS: usize = 16;

/// Where a run is that waits.
#[derive(Clone, Copy)]
struct Span {
    base: usize,
    pages: usize,
    must_clear: bool,
}

impl Span {
    fn end(self) -> usize {
        self.base + (self.pages << PAGE_SHIFT)
    }
}

impl Engine {
    /// A run of `pages` pages, made of others that wait. They need not be cleared, where there are
    /// such.
    pub(super) fn remade(
        &self,
        pages: usize,
        terms: Terms,
        cleaner: &Cleaner,
    ) -> Option<KBox<Mapping<OpenFile>>> {
        let longer = self.pool.lock().cache.take_longer(pages, terms);
        let mapping = longer.or_else(|| self.joined(pages, terms))?;
        if mapping.run().pages() < pages {
            self.keep(mapping, cleaner);
            return None;
        }
        Some(self.cut(mapping, pages, cleaner))
    }

    /// Cuts a run behind its first `pages` pages. The rest waits on.
    fn cut(
        &self,
        mut mapping: KBox<Mapping<OpenFile>>,
        pages: usize,
        cleaner: &Cleaner,
    ) -> KBox<Mapping<OpenFile>> {
        if let Some(rest) = mapping.run_mut().split_off(pages) {
            let (front_tag, rest_tag) = mapping.tag().cut(pages, rest.pages());
            *mapping.tag_mut() = front_tag;
            if let Ok(rest) = Mapping::new(rest, rest_tag) {
                self.keep(rest, cleaner);
            }
        }
        mapping
    }

    /// Joins runs that wait. What it returns is too short if one of them was taken meanwhile.
    fn joined(&self, pages: usize, terms: Terms) -> Option<KBox<Mapping<OpenFile>>> {
        if self.pool.lock().cache.pages() < pages {
            return None;
        }
        // Only a chance to save work: not worth to wait for memory.
        let mut spans = KVec::with_capacity(MAX_PIECES, GFP_NOWAIT | __GFP_NOWARN).ok()?;
        for mapping in self.pool.lock().cache.iter().take(MAX_PIECES) {
            let span = Span {
                base: mapping.run().base(),
                pages: mapping.run().pages(),
                must_clear: terms.fit(mapping.tag().contents) == Fit::MustClear,
            };
            // There is room, so this allocates nothing.
            let _ = spans.push_within_capacity(span);
        }
        spans.sort_unstable_by_key(|span| span.base);
        let neighbours = find(&spans, pages, false).or_else(|| find(&spans, pages, true))?;

        // From the end, so that what is there if one is missing still is in one piece.
        let mut parts = Stack::new();
        let mut pool = self.pool.lock();
        for span in neighbours.iter().rev() {
            match pool.cache.take_at(span.base, span.pages) {
                Some(part) => parts.push(part),
                None => break,
            }
        }
        drop(pool);
        join(parts)
    }
}

/// Makes one run of neighbours, the first of which is on top.
fn join(mut parts: Stack<OpenFile>) -> Option<KBox<Mapping<OpenFile>>> {
    let mut joined = parts.pop()?;
    while let Some(next) = parts.pop() {
        let pages = joined.run().pages();
        let tag = joined
            .tag()
            .joined_with(pages, *next.tag(), next.run().pages());
        // They are neighbours, so nothing comes back that would be freed here.
        if joined.run_mut().join(Mapping::into_run(next)).is_ok() {
            *joined.tag_mut() = tag;
        }
    }
    Some(joined)
}

/// The neighbours among `spans`, in the order of their addresses, that have at least `pages` pages
/// together and waste least: at most as much again.
fn find(spans: &[Span], pages: usize, may_clear: bool) -> Option<&[Span]> {
    let mut best = None;
    let mut best_sum = pages.saturating_mul(2).saturating_add(1);
    for first in 0..spans.len() {
        let Some(rest) = spans.get(first..) else {
            break;
        };
        let mut sum = 0;
        let mut end = None;
        for (count, span) in rest.iter().take(MAX_PARTS).enumerate() {
            if end.is_some_and(|end| end != span.base) || span.must_clear && !may_clear {
                break;
            }
            end = Some(span.end());
            sum += span.pages;
            if sum >= pages {
                if sum < best_sum {
                    best_sum = sum;
                    best = rest.get(..=count);
                }
                break;
            }
        }
    }
    best
}

#[kunit_tests(rust_uncleared_remake)]
mod tests {
    use super::*;

    const fn span(page: usize, pages: usize) -> Span {
        Span {
            base: page << PAGE_SHIFT,
            pages,
            must_clear: false,
        }
    }

    fn found(spans: &[Span], pages: usize, may_clear: bool) -> Option<(usize, usize)> {
        find(spans, pages, may_clear).map(|parts| {
            let first = parts.first().map_or(0, |span| span.base >> PAGE_SHIFT);
            (first, parts.len())
        })
    }

    #[test]
    fn neighbours_are_found() {
        let spans = [span(10, 4), span(14, 4), span(18, 8), span(30, 6)];
        assert_eq!(found(&spans, 8, false), Some((10, 2)));
        assert_eq!(found(&spans, 12, false), Some((14, 2)));
        assert_eq!(found(&spans, 16, false), Some((10, 3)));
        assert_eq!(found(&spans, 17, false), None);
        assert_eq!(found(&[], 1, false), None);
    }

    #[test]
    fn a_gap_is_not_crossed() {
        let spans = [span(10, 4), span(15, 4)];
        assert_eq!(found(&spans, 5, false), None);
    }

    #[test]
    fn least_is_wasted() {
        let spans = [span(0, 4), span(4, 7), span(20, 4), span(24, 5)];
        assert_eq!(found(&spans, 9, false), Some((20, 2)));
        assert_eq!(found(&spans, 2, false), Some((0, 1)));
        assert_eq!(found(&spans, 1, false), None);
    }

    #[test]
    fn what_must_be_cleared_is_left_out_at_first() {
        let dirty = Span {
            must_clear: true,
            ..span(4, 4)
        };
        let spans = [span(0, 4), dirty, span(8, 4)];
        assert_eq!(found(&spans, 8, false), None);
        assert_eq!(found(&spans, 8, true), Some((0, 2)));
    }
}
