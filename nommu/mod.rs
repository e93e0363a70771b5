// SPDX-License-Identifier: GPL-2.0

//! What a driver that hands out memory needs from a kernel without an MMU.
//!
//! This is the only place with unsafe code and raw bindings. Each file holds one concept and offers
//! it as safe Rust:
//!
//! - [`page_run`]: an owned run of adjacent page frames, made of [`blocks`] of the page allocator;
//!   [`join`] makes those that are longer than its largest block.
//! - [`reserve`]: a long run that is lent in parts.
//! - [`misc_device`]: what a driver provides, and its registration; [`open_file`]: the operations,
//!   with the two extra ones of `mm/nommu.c`.
//! - [`mapping`]: a run with what it takes to lend it; [`vma`]: how a VMA gets it, from `mmap` to
//!   `close`.
//! - [`deferred_return`]: how that run comes back to the driver once the region is gone.
//! - [`deferred_clear`]: how a long run is cleared while nobody waits for a lock.
//! - [`stack`]: mappings that wait, without an allocation.
//! - [`iov`], [`shrinker`], [`worker`], [`task`], [`task_work`], [`system`]: small pieces of C
//!   interface that `rust/kernel` has no wrapper for.
//! - [`compat`]: what differs between kernels.
//!
//! C source: [`mm/nommu.c`](srctree/mm/nommu.c)

mod blocks;
pub(crate) mod compat;
mod deferred_clear;
mod deferred_return;
pub(crate) mod iov;
mod join;
pub(crate) mod mapping;
pub(crate) mod misc_device;
mod open_file;
pub(crate) mod page_run;
pub(crate) mod reserve;
pub(crate) mod shrinker;
pub(crate) mod stack;
pub(crate) mod system;
pub(crate) mod task;
mod task_work;
mod vma;
pub(crate) mod worker;
