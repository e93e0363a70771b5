// SPDX-License-Identifier: GPL-2.0

//! What `/dev/pages` does. Safe Rust only, and nothing that only a kernel without an MMU has.
//!
//! - [`open_file`]: the file operations; the place to start reading.
//! - [`request`]: which mapping a caller asks for, by offset and flags.
//! - [`policy`]: who may see which [`contents`] of memory that was not cleared.
//! - [`engine`]: where runs come from and where they go, and when they are cleared.
//! - [`pool`]: what its lock guards: the [`account`]s, the [`statistics`], and the [`cache`] of
//!   runs that wait to be used again, by [`size_class`].
//! - [`supply`]: new runs, from the reserve or the page allocator; [`remake`]: runs made of such
//!   that wait in other sizes.
//! - [`cleaner`]: clearing in the background.
//! - [`parameters`]: what the administrator has set, checked.
//! - [`service`]: all of it together.

pub(crate) mod account;
pub(crate) mod cache;
pub(crate) mod cleaner;
pub(crate) mod contents;
pub(crate) mod engine;
pub(crate) mod open_file;
pub(crate) mod parameters;
pub(crate) mod policy;
pub(crate) mod pool;
pub(crate) mod remake;
pub(crate) mod request;
pub(crate) mod service;
pub(crate) mod size_class;
pub(crate) mod statistics;
pub(crate) mod supply;
