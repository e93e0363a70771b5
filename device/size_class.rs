// SPDX-License-Identifier: GPL-2.0

//! Size classes: which sizes are kept on one list, and what a run of a size weighs.

use kernel::prelude::*;

/// Sizes up to this many pages have a class of their own.
const EXACT_CLASSES: usize = 64;

/// Size classes in all: above [`EXACT_CLASSES`] there are four for each power of two.
pub(crate) const CLASSES: usize = 128;

static_assert!(EXACT_CLASSES.is_power_of_two());

/// The class of a size of `pages` pages, which is at least 1.
#[inline]
pub(crate) const fn class_of(pages: usize) -> usize {
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

/// What follows from the length of a run and is needed each time it waits. Without the instructions
/// that count bits it takes longer to find out than to remember.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Its class.
    pub(crate) class: usize,
    /// As how many blocks of the page allocator it would go back: one for each bit of its length.
    /// That a long one consists of many blocks of the largest size is left out; memory has few of
    /// these.
    pub(crate) pieces: usize,
}

impl Size {
    /// Of a run of `pages` pages.
    pub(crate) const fn of(pages: usize) -> Self {
        Self {
            class: class_of(pages),
            pieces: pages.count_ones() as usize,
        }
    }
}

#[kunit_tests(rust_uncleared_size_class)]
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
