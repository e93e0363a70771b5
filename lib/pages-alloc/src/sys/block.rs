// SPDX-License-Identifier: MIT OR Apache-2.0

//! Allocated memory.

use core::ptr::NonNull;

/// A block that a heap has given out, or that somebody says is one.
///
/// # Invariants
///
/// Whoever has the value may give the memory back: nobody uses it any more. Whether it really is a
/// block is for the heap to find out.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    start: NonNull<u8>,
}

impl Block {
    pub(super) fn new(start: NonNull<u8>) -> Self {
        // INVARIANT: Called with what was just allocated.
        Self { start }
    }

    /// Makes a block of an address.
    ///
    /// # Safety
    ///
    /// Nothing may use memory at this address any more, if it is a block at all.
    pub unsafe fn from_raw(start: NonNull<u8>) -> Self {
        // INVARIANT: By the requirements of this function.
        Self { start }
    }

    /// The address, for the one who uses the memory.
    pub fn into_raw(self) -> NonNull<u8> {
        self.start
    }

    /// The address as a number.
    #[inline]
    pub fn addr(&self) -> usize {
        self.start.as_ptr() as usize
    }

    #[inline]
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Sets the first `len` bytes to zero. The heap has made the block at least that long.
    pub(crate) fn clear(&mut self, len: usize) {
        // SAFETY: By the type invariants nobody else uses the block, and the heap calls this with
        // the length that it was asked for.
        unsafe { self.start.as_ptr().write_bytes(0, len) };
    }

    /// Copies `len` bytes of `from`, which is at least that long, as this block is.
    pub(crate) fn copy_from(&mut self, from: &Self, len: usize) {
        // SAFETY: Both blocks have this length, as the heap knows, and they are two.
        unsafe {
            self.start
                .as_ptr()
                .copy_from_nonoverlapping(from.start.as_ptr(), len)
        };
    }
}
