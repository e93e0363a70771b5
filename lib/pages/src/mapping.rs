// SPDX-License-Identifier: MIT OR Apache-2.0

//! Mapped memory.

use crate::sys;
use core::{
    ops::{Deref, DerefMut},
    ptr::NonNull,
};

/// Bytes in a page frame of the systems that this crate knows.
pub const PAGE_SIZE: usize = 4096;

/// Memory that is mapped for as long as the value lives.
#[derive(Debug)]
pub struct Mapping {
    map: sys::Map,
}

impl Mapping {
    pub(crate) fn new(map: sys::Map) -> Self {
        Self { map }
    }

    /// Gives the memory away: its address and its length in bytes. [`sys::Map::from_raw`] takes it
    /// back.
    pub fn into_raw(self) -> (NonNull<u8>, usize) {
        self.map.into_raw()
    }
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.bytes()
    }
}

impl DerefMut for Mapping {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.map.bytes_mut()
    }
}

impl From<sys::Map> for Mapping {
    fn from(map: sys::Map) -> Self {
        Self { map }
    }
}
