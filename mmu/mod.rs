// SPDX-License-Identifier: GPL-2.0

//! What a driver that hands out memory needs from a kernel with an MMU.
//!
//! The same interface as that of `nommu`, and the same rule: this is the only place with unsafe
//! code and raw bindings, and each file offers one concept as safe Rust. Three files are this
//! folder's own:
//!
//! - [`open_file`]: an open file and its operations.
//! - [`vma`]: how the VMAs of one mapping get their run, from `mmap` to the last `close`.
//! - [`debugger`]: how ptrace(2) and `/proc/PID/mem` reach memory that nobody may pin.
//!
//! The others are those of `nommu`, which do not care whether there is an MMU. They are compiled
//! here by their path, so that a `super` in them means this folder: one kernel has one of the two.
//!
//! C sources: [`mm/vma.c`](srctree/mm/vma.c), [`mm/memory.c`](srctree/mm/memory.c)

mod debugger;
mod open_file;
mod vma;

#[path = "../nommu/blocks.rs"]
mod blocks;
#[path = "../nommu/compat.rs"]
pub(crate) mod compat;
#[path = "../nommu/iov.rs"]
pub(crate) mod iov;
#[path = "../nommu/join.rs"]
mod join;
#[path = "../nommu/mapping.rs"]
pub(crate) mod mapping;
#[path = "../nommu/misc_device.rs"]
pub(crate) mod misc_device;
#[path = "../nommu/page_run.rs"]
pub(crate) mod page_run;
#[path = "../nommu/reserve.rs"]
pub(crate) mod reserve;
#[path = "../nommu/shrinker.rs"]
pub(crate) mod shrinker;
#[path = "../nommu/stack.rs"]
pub(crate) mod stack;
#[path = "../nommu/system.rs"]
pub(crate) mod system;
#[path = "../nommu/task.rs"]
pub(crate) mod task;
#[path = "../nommu/worker.rs"]
pub(crate) mod worker;
