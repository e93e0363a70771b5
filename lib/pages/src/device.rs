// SPDX-License-Identifier: MIT OR Apache-2.0

//! The open device.

use crate::{mapping::Mapping, sys, Error};
use core::ffi::CStr;

/// Where the device is.
pub const PATH: &CStr = c"/dev/pages";

/// The offset of a mapping that need not be cleared, in bytes: `PAGES_OFFSET_UNCLEARED`.
pub const OFFSET_UNCLEARED: u64 = 1 << 43;

/// `/dev/pages`, open for mapping. Closed when dropped; its mappings stay.
///
/// Under the default policy of the module an uncleared mapping shows only what was written through
/// the same `Device` before.
#[derive(Debug)]
pub struct Device {
    fd: sys::Fd,
    number: u64,
}

impl Device {
    /// Opens `/dev/pages`.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`], [`Error::NotAllowed`], or another one of open(2).
    pub fn open() -> Result<Self, Error> {
        Self::open_at(PATH)
    }

    /// Opens the device at another place.
    ///
    /// # Errors
    ///
    /// Those of [`Device::open`]; [`Error::NoDevice`] also if a file is there that is no device.
    pub fn open_at(path: &CStr) -> Result<Self, Error> {
        let fd = sys::Fd::open(path).map_err(Error::from_errno)?;
        let number = fd.device_number();
        // A file that a shell has left there could be mapped as well, and would not be memory.
        if number == 0 {
            return Err(Error::NoDevice);
        }
        Ok(Self { fd, number })
    }

    /// Whether the file is still this device: a program may close files that it has not opened, and
    /// the number of this one may be that of another file by now.
    pub fn is_open(&self) -> bool {
        self.fd.device_number() == self.number
    }

    /// Maps `len` bytes, all zero. The kernel rounds `len` up to whole pages.
    ///
    /// # Errors
    ///
    /// [`Error::BadLength`] for 0; [`Error::NoMemory`]; [`Error::NoDevice`] if the file cannot be
    /// mapped.
    pub fn map(&self, len: usize) -> Result<Mapping, Error> {
        self.map_at(len, 0)
    }

    /// Maps `len` bytes that need not be cleared. What they are is not known: zeros, or what was
    /// there before.
    ///
    /// # Errors
    ///
    /// Those of [`Device::map`].
    pub fn map_uncleared(&self, len: usize) -> Result<Mapping, Error> {
        self.map_at(len, OFFSET_UNCLEARED)
    }

    fn map_at(&self, len: usize, offset: u64) -> Result<Mapping, Error> {
        sys::Map::shared(&self.fd, len, offset)
            .map(Mapping::new)
            .map_err(Error::from_errno)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_cannot_be_opened() {
        let error = Device::open_at(c"/dev/not/there").unwrap_err();
        assert_eq!(error, Error::NoDevice);
    }

    #[test]
    fn a_plain_file_is_no_device() {
        let error = Device::open_at(c"Cargo.toml").unwrap_err();
        assert_eq!(error, Error::NoDevice);
    }

    // The kernel's header is the reference; the one for C programs repeats it.
    #[test]
    fn the_offset_is_that_of_the_kernel() {
        const LINE: &str = "#define PAGES_OFFSET_UNCLEARED\t(1ULL << 43)\n";
        assert!(include_str!("../../../include/uapi/linux/pages.h").contains(LINE));
        assert!(include_str!("../../../include/pages.h").contains(LINE));
        assert_eq!(OFFSET_UNCLEARED, 1_u64 << 43);
    }

    #[test]
    fn a_device_knows_itself() {
        let zero = Device::open_at(c"/dev/zero").unwrap();
        assert!(zero.is_open());
        let null = Device::open_at(c"/dev/null").unwrap();
        assert_ne!(zero.number, null.number);
    }

    // /dev/zero is mapped in the same way.
    #[test]
    fn mappings_are_zero_and_writable() {
        let device = Device::open_at(c"/dev/zero").unwrap();
        let mut mapping = device.map(10_000).unwrap();
        assert_eq!(mapping.len(), 10_000);
        assert!(mapping.iter().all(|byte| *byte == 0));
        mapping.fill(7);
        assert_eq!(mapping[9_999], 7);
    }

    #[test]
    fn no_length_is_no_mapping() {
        let device = Device::open_at(c"/dev/zero").unwrap();
        assert_eq!(device.map(0).unwrap_err(), Error::BadLength);
        assert_eq!(device.map(usize::MAX).unwrap_err(), Error::NoMemory);
    }

    #[test]
    fn a_mapping_outlives_its_device() {
        let device = Device::open_at(c"/dev/zero").unwrap();
        let mut mapping = device.map(4096).unwrap();
        drop(device);
        mapping[4095] = 1;
        assert_eq!(mapping[4095], 1);
    }
}
