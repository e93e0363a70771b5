// SPDX-License-Identifier: MIT OR Apache-2.0

//! Memory that a heap takes and gives back.

use core::ptr::NonNull;
use pages::{sys::Map, Mapping};

/// A piece of memory that goes back when it is dropped.
pub trait Memory: Sized {
    /// Gives the memory away: its address and its length in bytes.
    fn into_raw(self) -> (NonNull<u8>, usize);

    /// Takes back what [`Memory::into_raw`] has given away.
    ///
    /// # Safety
    ///
    /// Both must come from one call of that function, and nothing may use the memory any more.
    unsafe fn from_raw(start: NonNull<u8>, len: usize) -> Self;
}

impl Memory for Mapping {
    fn into_raw(self) -> (NonNull<u8>, usize) {
        Mapping::into_raw(self)
    }

    unsafe fn from_raw(start: NonNull<u8>, len: usize) -> Self {
        // SAFETY: By the requirements of this function.
        Mapping::from(unsafe { Map::from_raw(start, len) })
    }
}
