// SPDX-License-Identifier: MIT OR Apache-2.0

//! What can go wrong.

use core::fmt;

/// Why the device could not be opened or mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// `ENOENT`, `ENXIO`, `ENODEV`: there is no such device, or it cannot be mapped.
    NoDevice,
    /// `EACCES`, `EPERM`: the caller may not open it.
    NotAllowed,
    /// `ENOMEM`: no run of free memory is that long, or a limit of the device is reached.
    NoMemory,
    /// `EINVAL`: the length is 0, or more than a kernel can address.
    BadLength,
    /// `EINTR`: the caller is being killed.
    Interrupted,
    /// Any other error number.
    Other(i32),
}

impl Error {
    pub(crate) fn from_errno(errno: i32) -> Self {
        match errno {
            2 | 6 | 19 => Self::NoDevice,
            1 | 13 => Self::NotAllowed,
            12 => Self::NoMemory,
            22 => Self::BadLength,
            4 => Self::Interrupted,
            other => Self::Other(other),
        }
    }

    /// The error number, as C programs know it.
    pub fn errno(self) -> i32 {
        match self {
            Self::NoDevice => 19,
            Self::NotAllowed => 13,
            Self::NoMemory => 12,
            Self::BadLength => 22,
            Self::Interrupted => 4,
            Self::Other(errno) => errno,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDevice => f.write_str("there is no /dev/pages; load the module rust_uncleared"),
            Self::NotAllowed => f.write_str("/dev/pages may not be opened by this user"),
            Self::NoMemory => f.write_str("no run of free memory is long enough"),
            Self::BadLength => f.write_str("a mapping of this length cannot be"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Other(errno) => write!(f, "error {errno}"),
        }
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_number_comes_back() {
        for errno in [4, 12, 13, 19, 22, 24] {
            assert_eq!(Error::from_errno(errno).errno(), errno);
        }
        assert_eq!(Error::from_errno(2), Error::NoDevice);
        assert_eq!(Error::from_errno(1), Error::NotAllowed);
    }
}
