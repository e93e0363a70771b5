// SPDX-License-Identifier: GPL-2.0

//! What a run of pages contains, as far as the device knows.

use super::size_class::Size;
use kernel::prelude::*;

/// An open file of the device, for as long as the module is loaded: numbers are not used twice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Owner(pub(crate) u64);

/// What a run contains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Contents {
    /// Zeros.
    Zeros,
    /// Zeros, and what this open file wrote to it.
    WrittenBy(Owner),
    /// What somebody else left: it came from the page allocator as it was.
    Unknown,
}

impl Contents {
    /// What a run contains that is made of two.
    fn joined_with(self, other: Self) -> Self {
        match (self, other) {
            (one, two) if one == two => one,
            (Self::Zeros, other) | (other, Self::Zeros) => other,
            _ => Self::Unknown,
        }
    }
}

/// What is noted on each run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag {
    /// What it contains.
    pub(crate) contents: Contents,
    /// Pages at its beginning that have been cleared already, while it waits.
    pub(crate) cleared: usize,
    /// Where it waits.
    pub(crate) size: Size,
}

impl Tag {
    /// A run of `pages` pages with these contents.
    pub(crate) fn new(contents: Contents, pages: usize) -> Self {
        Self {
            contents,
            cleared: 0,
            size: Size::of(pages),
        }
    }

    /// Notes what it contains now.
    #[inline]
    pub(crate) fn set(&mut self, contents: Contents) {
        self.contents = contents;
        self.cleared = 0;
    }

    /// Pages at the beginning of a run of `pages` pages that are zero.
    fn zeros(self, pages: usize) -> usize {
        if self.contents == Contents::Zeros {
            pages
        } else {
            self.cleared
        }
    }

    /// The tag of a run of `pages` pages to which one of `next_pages` pages is joined.
    pub(crate) fn joined_with(self, pages: usize, next: Self, next_pages: usize) -> Self {
        let contents = self.contents.joined_with(next.contents);
        let cleared = match self.zeros(pages) {
            _ if contents == Contents::Zeros => 0,
            zeros if zeros < pages => zeros,
            _ => pages + next.cleared,
        };
        Self {
            contents,
            cleared,
            size: Size::of(pages + next_pages),
        }
    }

    /// The tags of both parts of a run that is cut: `pages` pages in front, and `rest` pages.
    pub(crate) fn cut(self, pages: usize, rest: usize) -> (Self, Self) {
        let part = |pages, cleared| Self {
            cleared,
            ..Self::new(self.contents, pages)
        };
        (
            part(pages, self.cleared.min(pages)),
            part(rest, self.cleared.saturating_sub(pages)),
        )
    }
}

#[kunit_tests(rust_uncleared_contents)]
mod tests {
    use super::*;

    const MINE: Contents = Contents::WrittenBy(Owner(7));
    const THEIRS: Contents = Contents::WrittenBy(Owner(8));

    #[test]
    fn zeros_hide_nothing() {
        for contents in [Contents::Zeros, MINE, THEIRS, Contents::Unknown] {
            assert_eq!(Contents::Zeros.joined_with(contents), contents);
            assert_eq!(contents.joined_with(Contents::Zeros), contents);
            assert_eq!(contents.joined_with(contents), contents);
        }
    }

    #[test]
    fn what_two_wrote_belongs_to_nobody() {
        assert_eq!(MINE.joined_with(THEIRS), Contents::Unknown);
        assert_eq!(MINE.joined_with(Contents::Unknown), Contents::Unknown);
        assert_eq!(Contents::Unknown.joined_with(THEIRS), Contents::Unknown);
    }

    #[test]
    fn cleared_is_what_lies_at_the_beginning() {
        let tag = |contents, cleared| Tag {
            cleared,
            ..Tag::new(contents, 10)
        };
        let zeros = Tag::new(Contents::Zeros, 10);
        let joined = |one: Tag, two| one.joined_with(10, two, 10).cleared;
        assert_eq!(joined(tag(MINE, 4), tag(MINE, 3)), 4);
        assert_eq!(joined(tag(MINE, 4), zeros), 4);
        assert_eq!(joined(zeros, tag(MINE, 3)), 13);
        assert_eq!(joined(tag(MINE, 0), tag(MINE, 3)), 0);
        let (front, rest) = tag(MINE, 4).cut(3, 7);
        assert_eq!((front.cleared, rest.cleared), (3, 1));
        let (front, rest) = tag(MINE, 4).cut(6, 4);
        assert_eq!((front.cleared, rest.cleared), (4, 0));
    }
}
