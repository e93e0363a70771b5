// SPDX-License-Identifier: GPL-2.0

//! What a run of pages contains, as far as the device knows.

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

/// What is noted on each run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag {
    /// What it contains.
    pub(crate) contents: Contents,
    /// Pages at its beginning that have been cleared already, while it waits.
    pub(crate) cleared: usize,
}

impl Tag {
    /// A run with these contents.
    pub(crate) const fn new(contents: Contents) -> Self {
        Self {
            contents,
            cleared: 0,
        }
    }
}
