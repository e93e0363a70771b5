// SPDX-License-Identifier: MIT OR Apache-2.0

//! An allocator on `/dev/pages`: memory in constant time, whatever the size.
//!
//! Small blocks come from pools, in which `rlsf` keeps order; a large block is a mapping of its
//! own. Neither is cleared, unless zeros are asked for. Where the device is missing, or the kernel
//! has an MMU, anonymous memory takes its place.
//!
//! For a Rust program:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: pages_alloc::PagesAlloc = pages_alloc::PagesAlloc;
//! ```
//!
//! With the feature `malloc` the crate also is the malloc family of C, as a static library.
//!
//! Start with [`Heap`]; `Documentation/allocator.rst` has the reasons.

#![cfg_attr(not(test), no_std)]
#![deny(unsafe_code)]
#![warn(missing_docs)]

mod heap;
mod lock;
mod source;
#[allow(unsafe_code)]
mod sys;

pub use heap::{Heap, Misuse, SMALL_MAX};
pub use source::{Source, System};
pub use sys::{block::Block, global::PagesAlloc, memory::Memory};

#[cfg(test)]
#[allow(unsafe_code)]
mod tests;
