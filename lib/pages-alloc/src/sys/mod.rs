// SPDX-License-Identifier: MIT OR Apache-2.0

//! The unsafe code of this crate: memory that is seen as something.

pub(crate) mod bins;
pub(crate) mod block;
pub(crate) mod global;
#[cfg(feature = "malloc")]
mod malloc;
pub(crate) mod memory;
pub(crate) mod pool;
pub(crate) mod shared;
pub(crate) mod table;
