// SPDX-License-Identifier: MIT OR Apache-2.0

//! Where memory comes from.

use crate::sys::memory::Memory;
use pages::{Device, Error, Mapping};

/// The longest anonymous mapping that the kernel makes without an MMU: a block of the largest order
/// of its page allocator. Asking for more is a warning on the console.
const ANONYMOUS_MAX: usize = 4 << 20;

/// Gives memory in whole pages. Its addresses are those of pages.
pub trait Source {
    /// What it gives.
    type Memory: Memory;

    /// `len` bytes that are zero, or [`None`]. `len` is a multiple of the page size, not 0.
    fn zeroed(&mut self, len: usize) -> Option<Self::Memory>;

    /// `len` bytes of any value, or [`None`].
    fn uncleared(&mut self, len: usize) -> Option<Self::Memory>;

    /// How much freed memory may be kept for the next caller, in bytes.
    fn may_keep(&mut self) -> usize;
}

/// What the system is found to be at the first call.
enum State {
    Unknown,
    /// The device is there.
    Device(Device),
    /// Anonymous memory is the best there is; without an MMU only in short pieces.
    Anonymous {
        limit: usize,
    },
}

/// The device, or anonymous memory.
///
/// With an MMU anonymous memory is used even if the device is there: shared mappings would be one
/// and the same in parent and child after fork(2).
pub struct System {
    state: State,
    may_keep: usize,
}

impl System {
    /// A source that has not looked yet.
    pub const fn new() -> Self {
        Self {
            state: State::Unknown,
            may_keep: 0,
        }
    }

    #[cold]
    fn look(&mut self) {
        self.state = if pages::sys::has_mmu() {
            State::Anonymous { limit: usize::MAX }
        } else {
            match Device::open() {
                Ok(device) => State::Device(device),
                Err(_) => State::Anonymous {
                    limit: ANONYMOUS_MAX,
                },
            }
        };
        self.may_keep = (pages::sys::total_memory() / 4).min(16 << 20);
    }

    fn map(
        &mut self,
        len: usize,
        by: impl Fn(&Device, usize) -> Result<Mapping, Error>,
    ) -> Option<Mapping> {
        if matches!(self.state, State::Unknown) {
            self.look();
        }
        if let State::Device(device) = &self.state {
            let mapped = if device.is_open() {
                by(device, len)
            } else {
                Err(Error::NoDevice)
            };
            match mapped {
                Ok(mapping) => return Some(mapping),
                Err(Error::NoMemory | Error::BadLength | Error::Interrupted) => return None,
                // The program has closed the file behind our back; the number may be that of
                // another file by now, so it must not be closed again.
                Err(_) => self.reopen(),
            }
        }
        match &self.state {
            State::Device(device) => by(device, len).ok(),
            State::Anonymous { limit } if len <= *limit => pages::map_anonymous(len).ok(),
            _ => None,
        }
    }

    #[cold]
    fn reopen(&mut self) {
        if let State::Device(device) = core::mem::replace(&mut self.state, State::Unknown) {
            core::mem::forget(device);
        }
        self.look();
    }
}

impl Default for System {
    fn default() -> Self {
        Self::new()
    }
}

impl Source for System {
    type Memory = Mapping;

    fn zeroed(&mut self, len: usize) -> Option<Mapping> {
        self.map(len, Device::map)
    }

    fn uncleared(&mut self, len: usize) -> Option<Mapping> {
        self.map(len, Device::map_uncleared)
    }

    fn may_keep(&mut self) -> usize {
        self.may_keep
    }
}
