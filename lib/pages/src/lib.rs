// SPDX-License-Identifier: MIT OR Apache-2.0

//! Memory from `/dev/pages`.
//!
//! [`Device`] opens the device, [`Device::map`] and [`Device::map_uncleared`] make a [`Mapping`],
//! and dropping that unmaps it:
//!
//! ```no_run
//! # fn main() -> Result<(), pages::Error> {
//! let device = pages::Device::open()?;
//! let mut frame = device.map(320 * 240 * 2)?;
//! frame[0] = 0xff;
//! # Ok(())
//! # }
//! ```
//!
//! A mapping is physically contiguous, begins on a page, and no other mapping shows it. The device
//! is there on kernels with the module `rust_uncleared`; without an MMU such a mapping is the only
//! one longer than 4 MiB that the kernel has.
//!
//! The crate needs neither `std` nor a C library. It follows `include/uapi/linux/pages.h` and
//! `Documentation/abi.rst`.

#![cfg_attr(not(test), no_std)]
#![deny(unsafe_code)]
#![warn(missing_docs)]

mod anonymous;
mod device;
mod error;
mod mapping;
#[allow(unsafe_code)]
pub mod sys;

pub use anonymous::map_anonymous;
pub use device::{Device, OFFSET_UNCLEARED, PATH};
pub use error::Error;
pub use mapping::{Mapping, PAGE_SIZE};
