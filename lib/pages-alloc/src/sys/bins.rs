// SPDX-License-Identifier: MIT OR Apache-2.0

//! Small blocks that were freed not long ago, by size.
//!
//! Most programs free and allocate the same few sizes in turn. `rlsf` would join such a block with
//! its neighbours and cut it out again; here it waits as it is. What waits is a quarter of all
//! pools at most, and the bins take turns in making room.

use super::{block::Block, pool::MIN_ALIGN};
use core::ptr::NonNull;

/// Bytes that may wait, whatever the pools are.
const LEAST_LIMIT: usize = 64 << 10;

/// Which part of the pools may wait, if that is more.
const PART: usize = 4;

/// Blocks of `rlsf` are multiples of 32 bytes long; up to this length every one has a bin.
const EXACT: usize = 1 << EXACT_LOG2;
const EXACT_LOG2: u32 = 12;
const STEP: usize = rlsf::GRANULARITY;

/// Bins for each power of two above.
const PER_POWER_LOG2: u32 = 3;

/// Longer blocks do not wait here.
pub(crate) const LONGEST: usize = (64 << 10) - 1;

const BINS: usize = bin_of(LONGEST) + 1;

/// The bin for blocks of `len` usable bytes.
#[inline]
const fn bin_of(len: usize) -> usize {
    if len < EXACT {
        return len / STEP;
    }
    let power = len.ilog2();
    let part = (len >> (power - PER_POWER_LOG2)) & ((1 << PER_POWER_LOG2) - 1);
    EXACT / STEP + (((power - EXACT_LOG2) as usize) << PER_POWER_LOG2) + part
}

/// What is written into a block that waits.
struct Waiting {
    next: Option<NonNull<Waiting>>,
    /// Usable bytes of the block.
    len: usize,
}

/// The bins.
///
/// # Invariants
///
/// The lists consist of blocks that belong to this value, each with a `Waiting` at its beginning.
/// The lengths of all add up to `bytes`.
pub(crate) struct Bins {
    first: [Option<NonNull<Waiting>>; BINS],
    bytes: usize,
    /// How many may wait.
    limit: usize,
    /// The bin that makes room next.
    hand: usize,
}

// SAFETY: Bins are memory and own it.
unsafe impl Send for Bins {}

impl Bins {
    pub(crate) const fn new() -> Self {
        Self {
            first: [const { None }; BINS],
            bytes: 0,
            limit: LEAST_LIMIT,
            hand: 0,
        }
    }

    /// Says how long all pools are together.
    pub(crate) fn suit(&mut self, pools: usize) {
        self.limit = (pools / PART).max(LEAST_LIMIT);
    }

    /// Takes a block of at least `size` bytes, and not many more. `size` is at most [`LONGEST`].
    #[inline]
    pub(crate) fn take(&mut self, size: usize) -> Option<Block> {
        // Usable bytes are those of the block less its header, which has half a step.
        let len = (size + STEP / 2).next_multiple_of(STEP) - STEP / 2;
        let bin = bin_of(len);
        let first = *self.first.get(bin)?;
        // SAFETY: By the type invariants a `Waiting` is there, which nobody else uses.
        if unsafe { first?.as_ref() }.len < size {
            return None;
        }
        self.pop(bin)
    }

    #[inline]
    fn pop(&mut self, bin: usize) -> Option<Block> {
        let first = self.first.get_mut(bin)?;
        let block = (*first)?;
        // SAFETY: As in `take`.
        let Waiting { next, len } = unsafe { block.read() };
        *first = next;
        self.bytes -= len;
        Some(Block::new(block.cast()))
    }

    /// Lets a block of `len` usable bytes wait, at most [`LONGEST`] and at least [`MIN_ALIGN`].
    /// [`Bins::evict`] makes room.
    #[inline]
    pub(crate) fn put(&mut self, block: Block, len: usize) {
        const { assert!(core::mem::size_of::<Waiting>() <= MIN_ALIGN) };
        let Some(first) = self.first.get_mut(bin_of(len)) else {
            return;
        };
        let waiting = block.into_raw().cast::<Waiting>();
        // SAFETY: A block is long and aligned enough, and nobody uses it.
        unsafe { waiting.write(Waiting { next: *first, len }) };
        // INVARIANT: The block belongs to the bins from now on.
        *first = Some(waiting);
        self.bytes += len;
    }

    /// A block that has to leave because there are too many.
    #[inline]
    pub(crate) fn evict(&mut self) -> Option<Block> {
        if self.bytes <= self.limit {
            return None;
        }
        self.any()
    }

    /// Any block, if there is one.
    #[cold]
    pub(crate) fn any(&mut self) -> Option<Block> {
        for _ in 0..BINS {
            if let Some(block) = self.pop(self.hand) {
                return Some(block);
            }
            self.hand = (self.hand + 1) % BINS;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_has_a_bin_and_longer_ones_a_later_one() {
        let mut last = 0;
        for len in 0..=LONGEST {
            let bin = bin_of(len);
            assert!(bin == last || bin == last + 1, "{len}");
            last = bin;
        }
        assert_eq!(last, BINS - 1);
    }

    #[test]
    fn what_waits_is_bounded() {
        const LEN: usize = 1008;
        let mut memory = std::vec![[0_u128; 64]; 200];
        let mut bins = Bins::new();
        for block in &mut memory {
            bins.put(Block::new(NonNull::from(block).cast()), LEN);
        }
        bins.suit(PART * 200 * LEN);
        assert!(bins.evict().is_none());
        bins.suit(PART * 100 * LEN);
        let mut left = 0;
        while bins.evict().is_some() {
            left += 1;
        }
        assert_eq!(left, 100);
        bins.suit(0);
        while bins.evict().is_some() {
            left += 1;
        }
        assert_eq!(200 - left, LEAST_LIMIT / LEN);
        while bins.any().is_some() {}
        assert_eq!(bins.bytes, 0);
    }
}
